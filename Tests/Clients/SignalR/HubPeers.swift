import SignalR
import TestSupport

extension Peers {
    /// A started connection, which is stopped after the body.
    static func withConnection(
        _ builder: HubConnectionBuilder, prepare: (HubConnection) -> Void = { _ in },
        _ body: (HubConnection) async throws -> Void
    ) async throws {
        let connection = builder.build()
        prepare(connection)
        try await connection.start()
        try await carryOut {
            try await body(connection)
        } finally: {
            await connection.stop()
        }
    }
}
