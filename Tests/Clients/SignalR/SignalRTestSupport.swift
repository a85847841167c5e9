import NIOCore
import NIOPosix
import SignalR
import Support
import TestSupport
import Testing

/// The events of a connection as text.
func record(_ connection: HubConnection) -> Transcript<String> {
    let notes = Transcript<String>()
    connection.onEvent { event in
        switch event {
        case .opened: notes.add("opened")
        case .failedToOpen(let error): notes.add("failed to open: \(error.code)")
        case .willReconnect(let error): notes.add("will reconnect: \(error.map { "\($0.code)" } ?? "-")")
        case .didReconnect: notes.add("did reconnect")
        case .closed(let error): notes.add("closed: \(error.map { "\($0.code)" } ?? "-")")
        }
    }
    return notes
}

/// The error that a body throws.
func signalRError(_ body: () async throws(SignalRError) -> Void) async -> SignalRError? {
    do throws(SignalRError) {
        try await body()
        Issue.record("nothing was thrown")
        return nil
    } catch {
        return error
    }
}

/// Opens a connection to a scripted hub, and stops it after the test's body.
func withHub(
    _ change: (HubConnectionBuilder) -> HubConnectionBuilder = { $0 },
    prepare: (HubConnection) -> Void = { _ in },
    _ body: (HubConnection, ScriptedPeer, ScriptedServer) async throws -> Void
) async throws {
    let server = try ScriptedServer()
    let connection = change(HubConnectionBuilder(url: server.url)).build()
    prepare(connection)
    async let script = server.negotiatedHub()
    try await connection.start()
    let hub = try await script
    do {
        try await body(connection, hub, server)
    } catch {
        hub.closeOutput()
        await connection.stop()
        throw error
    }
    hub.closeOutput()
    await connection.stop()
}

extension HubConnection {
    /// The value of a task that throws this client's errors.
    nonisolated func value<Value: Sendable>(of task: Task<Value, any Error>) async throws(SignalRError) -> Value {
        do {
            return try await task.value
        } catch let error as SignalRError {
            throw error
        } catch {
            throw SignalRError(.invalidResult, "\(error)")
        }
    }
}
