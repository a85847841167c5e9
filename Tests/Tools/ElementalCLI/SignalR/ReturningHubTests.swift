import TestSupport
import Testing

/// `elemental signalr bridge` and a hub that returns: its device has kept long values too.
struct ReturningHubTests {
    @Test(.backstop)
    func aLongValueIsSentAgain() async throws {
        let (listener, port) = try RawSocket.listen()
        let text = String(repeating: "x", count: 20_000)
        try await Robot.with(["1:Text:string=\(text)"]) { _, target in
            let command = [
                "signalr", "bridge", target, "--hub", "http://127.0.0.1:\(port)/hub", "--skip-negotiation",
            ]
            try await withCommand(command) { _ in
                for _ in 0..<2 {
                    let hub = try await ScriptedPeer.acceptWebSocket(on: listener)
                    while !(try await hub.message()).contains(text) {}
                    hub.closeOutput()
                }
            }
        }
    }
}
