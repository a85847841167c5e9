import Elemental
import SignalR

/// A connection to a hub for the length of a command.
struct HubClient: Sendable {
    let url: String
    let connection: HubConnection
    /// Everything that happens to the connection, from before it was started.
    private let events: AsyncStream<ConnectionEvent>
    private let console: Console

    /// Connects, and closes the connection when the body is over or the task cancelled.
    ///
    /// - Parameter prepare: sets handlers before anything can come.
    static func with(
        _ url: String, _ connection: HubConnection, _ console: Console,
        prepare: (HubConnection) -> Void = { _ in }, _ body: (HubClient) async throws -> Void
    ) async throws {
        let client = HubClient(url: url, connection: connection, events: connection.events, console: console)
        prepare(connection)
        try await connection.start()
        await console.emit(.hub(.opened(url: url, connection.transport)))
        do {
            try await body(client)
        } catch {
            await connection.stop()
            throw error
        }
        await connection.stop()
    }

    /// Tells of what happens to the connection until it is over or the task is cancelled.
    ///
    /// - Returns: the error that ended it; `nil` if it ended in good order or goes on.
    func tellUntilClosed(reconnected: @Sendable () async -> Void = {}) async -> SignalRError? {
        for await event in events {
            switch event {
            case .opened, .failedToOpen: break
            case .willReconnect(let error): await console.emit(.hub(.willReconnect(url: url, error)))
            case .didReconnect:
                await console.emit(.hub(.didReconnect(url: url)))
                await reconnected()
            case .closed(let error):
                await console.emit(.hub(.closed(url: url, error)))
                return error
            }
        }
        return nil
    }

    /// Does something that the hub has to answer in time.
    func limited<Answer: Sendable>(
        _ method: String, _ limit: Duration, _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let answer = Locked<Answer?>(nil)
        try await Interruption.limit(to: limit) {
            let value = try await body()
            answer.withLock { $0 = value }
        }
        if let value = answer.withLock({ $0 }) { return value }
        try Task.checkCancellation()
        throw CommandFailure(
            "timedOut", "the hub did not answer '\(method)' within \(limit); --timeout gives it more time")
    }
}
