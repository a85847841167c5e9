import Support

extension MQTTClient {
    /// Connects, runs `body` with the client, and ends the connection when `body` has returned or thrown.
    ///
    /// - Throws: ``MQTTError`` if the connection cannot be made, or ends before `body` does; what `body` throws.
    public static func withConnection<Result: Sendable>(
        _ address: MQTTAddress, options: MQTTOptions = MQTTOptions(),
        _ body: @escaping @Sendable (MQTTClient) async throws -> Result
    ) async throws -> Result {
        let client = MQTTClient(address, options: options)
        let isReady = Latch()
        client.onEvent { event in
            if case .connected = event { isReady.open() }
        }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await client.run()
                return nil
            }
            group.addTask {
                guard await isReady.wait() else { throw CancellationError() }
                return try await body(client)
            }
            // Whichever ends first: the connection only if it was lost for good, or the task was cancelled.
            let first: Result?
            do {
                first = try await group.next() ?? nil
            } catch {
                client.stop()
                group.cancelAll()
                throw error
            }
            client.stop()
            // What `body` has published is sent before the connection ends.
            if first != nil { try await group.waitForAll() } else { group.cancelAll() }
            guard let first else { throw CancellationError() }
            return first
        }
    }
}
