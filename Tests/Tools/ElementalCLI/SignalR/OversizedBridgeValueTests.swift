import Foundation
import Synchronization
import TestSupport
import Testing

/// `elemental signalr bridge` and a hub that ends the connection at a message over its limit, as ASP.NET Core does.
struct OversizedBridgeValueTests {
    private static let limit = 32 * 1024

    /// Ways in which hubs end a connection: by the hub protocol, by the WebSocket, and without a word.
    enum Ending: CaseIterable {
        case hubClose, webSocketClose, endOfStream
    }

    private final class Hub: Sendable {
        private let state = Mutex((connections: 0, methods: [String]()))

        var connections: Int { state.withLock { $0.connections } }
        var methods: [String] { state.withLock { $0.methods } }

        func serve(_ listener: RawSocket, _ ending: Ending) async throws {
            while !Task.isCancelled {
                let peer = try await ScriptedPeer.acceptWebSocket(on: listener)
                state.withLock { $0.connections += 1 }
                try? await serve(peer, ending)
                peer.closeOutput()
            }
        }

        private func serve(_ peer: ScriptedPeer, _ ending: Ending) async throws {
            while true {
                let message = try await peer.message()
                guard message.utf8.count <= limit else {
                    switch ending {
                    case .hubClose: try peer.say(#"{"type":7,"error":"Connection closed with an error."}"#)
                    case .webSocketClose: try peer.write(ScriptedPeer.frame([0x03, 0xF1], opcode: 8))
                    case .endOfStream: break
                    }
                    return
                }
                let call = JSONLine(message)
                if let method: String = call?["target"] { state.withLock { $0.methods.append(method) } }
            }
        }
    }

    @Test(.backstop, arguments: Ending.allCases)
    func aValueThatIsTooLargeForTheHubIsLeftOut(_ ending: Ending) async throws {
        let (listener, port) = try RawSocket.listen()
        let hub = Hub()
        let serving = Task { try await hub.serve(listener, ending) }
        let elements = ["1:Text:string=\(String(repeating: "x", count: 40_000))", "2:Speed:float=0.5"]
        try await Robot.with(elements) { _, target in
            let command = [
                "signalr", "bridge", target, "--hub", "http://127.0.0.1:\(port)/hub", "--skip-negotiation", "--json",
            ]
            try await withCommand(command) { bridge in
                try await bridge.nextEvent("notPassed") {
                    $0["element"] == "Text" && $0["reason"] == "messageTooLarge"
                        && ($0["message"] ?? "").contains("40000 bytes")
                }
                // From now on the connection stays up, and smaller values pass.
                try await expectSuccess("set", target, "Text=short", "Speed=0.25")
                try await eventually("what is set") { hub.methods.last == "Speed" && hub.methods.contains("Text") }
                let connections = hub.connections
                let large = String(repeating: "y", count: 50_000)
                try await expectSuccess("set", target, "Text=\(large)")
                try await expectSuccess("set", target, "Text=shorter")
                try await eventually("what is short") { hub.methods.last == "Text" }
                #expect(hub.connections == connections)
                let told = bridge.events("notPassed")
                #expect(told.count == 1)
            }
        }
        serving.cancel()
        // The accepting thread is waiting for another connection.
        _ = try? RawSocket.connect(to: port)
        _ = await serving.result
    }
}
