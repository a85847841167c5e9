import TestSupport
import Testing

@testable import SignalR

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

/// A connection to a hub, no time limit of which ends a test that is slow.
func patientHub(url: String) -> HubConnectionBuilder {
    HubConnectionBuilder(url: url).withOptions {
        $0.serverTimeout = Patience.wait * 9
        $0.keepAliveInterval = Patience.wait * 9
        $0.handshakeTimeout = Patience.wait * 9
        $0.maximumIdle = Patience.wait * 9
    }
}

/// The error that a body throws.
func signalRError(_ body: () async throws -> Void) async -> SignalRError? {
    do {
        try await body()
        Issue.record("nothing was thrown")
    } catch let error as SignalRError {
        return error
    } catch {
        Issue.record(error)
    }
    return nil
}

/// Opens a connection to a scripted hub, and stops it after the test's body.
func withHub(
    _ change: (HubConnectionBuilder) -> HubConnectionBuilder = { $0 },
    prepare: (HubConnection) -> Void = { _ in },
    _ body: (HubConnection, ScriptedPeer, ScriptedServer) async throws -> Void
) async throws {
    let server = try ScriptedServer()
    let connection = change(patientHub(url: server.url)).build()
    prepare(connection)
    async let script = server.negotiatedHub()
    try await connection.start()
    let hub = try await script
    try await carryOut {
        try await body(connection, hub, server)
    } finally: {
        hub.closeOutput()
        await connection.stop()
    }
}
