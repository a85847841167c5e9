import Elemental
import SignalR
import Support

/// A connection to a hub for the duration of a command.
struct HubClient: Sendable {
    let url: String
    let connection: HubConnection
    /// The connection's events from before its start.
    private let events: AsyncStream<ConnectionEvent>
    private let console: Console

    /// Connects once `prepare` has set handlers, runs `body` and closes the connection, also after an error.
    static func with(
        _ url: String, _ connection: HubConnection, _ console: Console,
        prepare: (HubConnection) -> Void = { _ in }, _ body: (HubClient) async throws -> Void
    ) async throws {
        let client = HubClient(url: url, connection: connection, events: connection.events, console: console)
        prepare(connection)
        try await connection.start()
        await console.emit(.hub(url, .opened, over: connection.transport))
        try await withCleanup {
            try await body(client)
        } cleanup: {
            await connection.stop()
        }
    }

    /// Reports the connection's events until it ends, and returns the error that ended it; `nil` if it ended normally or
    /// the task was cancelled.
    func reportUntilClosed(reconnected: @Sendable () async -> Void = {}) async -> SignalRError? {
        for await event in events {
            switch event {
            case .opened, .failedToOpen: continue
            case .willReconnect, .didReconnect, .closed: await console.emit(.hub(url, event))
            }
            if case .didReconnect = event { await reconnected() }
            if case .closed(let error) = event { return error }
        }
        return nil
    }

    /// Runs `body`, which waits for the hub's answer to a call, with a time limit.
    func limited<Answer: Sendable>(
        _ method: String, _ limit: Duration, _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        if let answer = try await Interruption.limit(to: limit, body) { return answer }
        try Task.checkCancellation()
        throw CommandFailure(
            "timedOut", "the hub did not answer '\(method)' within \(limit); give a longer --timeout")
    }
}
