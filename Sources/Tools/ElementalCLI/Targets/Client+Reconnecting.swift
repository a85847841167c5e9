import Elemental

extension Client {
    /// Tells of every loss and return of the connection while `body` runs.
    func tellingReconnections(_ console: Console, _ body: () async throws -> Void) async throws {
        guard let events else { return try await body() }
        let telling = Task {
            for await event in events {
                switch event {
                case .willReconnect(let attempt, let delay):
                    await console.emit(.willReconnect(device: device.name, attempt, delay: delay))
                case .didReconnect:
                    await console.emit(.didReconnect(device: device.name, address: device.addressText))
                case .disconnected: break
                }
            }
        }
        defer { telling.cancel() }
        try await body()
    }
}
