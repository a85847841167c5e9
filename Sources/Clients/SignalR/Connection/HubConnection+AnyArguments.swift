extension HubConnection {
    /// Calls a method of the hub with arguments whose number is only known at run time, and waits for its result.
    ///
    /// - Throws: as ``invoke(_:_:streams:headers:returning:)``.
    public nonisolated func invoke<Result: Decodable & Sendable>(
        _ method: String, arguments: [any Encodable & Sendable], headers: [String: String] = [:],
        returning: Result.Type = Result.self
    ) async throws(SignalRError) -> Result {
        let result = try await call(method, try codec.encodeArguments(arguments), [], headers)
        return try codec.decode(Result.self, from: result ?? codec.null)
    }

    /// Calls a method of the hub with arguments whose number is only known at run time, without waiting for it.
    ///
    /// - Throws: as ``send(_:_:streams:headers:)``.
    public nonisolated func send(
        _ method: String, arguments: [any Encodable & Sendable], headers: [String: String] = [:]
    ) async throws(SignalRError) {
        try await post(method, try codec.encodeArguments(arguments), [], headers)
    }

    /// Calls a method of the hub that returns a stream, with arguments whose number is only known at run time.
    ///
    /// - Throws: as ``stream(_:_:streams:headers:of:)``.
    public nonisolated func stream<Item: Decodable & Sendable>(
        _ method: String, arguments: [any Encodable & Sendable], headers: [String: String] = [:],
        of: Item.Type = Item.self
    ) async throws(SignalRError) -> HubStream<Item> {
        let bytes = try codec.encodeArguments(arguments)
        return HubStream(codec: codec, items: try await openStream(method, bytes, [], headers))
    }
}
