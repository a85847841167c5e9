import TestSupport

extension ScriptedPeer {
    /// Accepts a client over a WebSocket without negotiation, up to and including its handshake.
    static func acceptWebSocket(on listener: RawSocket) async throws -> ScriptedPeer {
        let hub = ScriptedPeer(try await listener.accept())
        try await hub.upgrade()
        _ = try await hub.message()
        try hub.say("{}")
        return hub
    }
}
