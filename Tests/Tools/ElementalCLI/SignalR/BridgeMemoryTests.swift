import TestSupport
import Testing

/// What a service can make `elemental signalr bridge` keep, whose devices keep the newest values for a hub that returns.
struct BridgeMemoryTests {
    private static let longest = 4 << 20

    /// Bridges a service that sends sixteen values of 4 MiB and then a number.
    private static func bridging(
        _ options: [String] = [],
        _ body: (
            _ bridge: ChildProcess, _ hub: ScriptedPeer, _ service: RawSocket, _ before: Int
        ) async throws -> Void
    ) async throws {
        let service = try ScriptedService()
        let (listener, port) = try RawSocket.listen()
        let hub = Task { try await ScriptedPeer.acceptWebSocket(on: listener) }
        let command = ["signalr", "bridge", service.target, "--hub", "http://127.0.0.1:\(port)/hub"]
        try await withCommand(command + ["--skip-negotiation", "--json"] + options) { bridge in
            let entries = (1...16).map {
                ScriptedService.Entry(id: UInt8($0), type: 12, name: Array("Picture \($0)".utf8))
            }
            let peer = try await service.accept([ScriptedService.Entry(id: 0)] + entries)
            let (connected, before) = (try await hub.value, try ProcessFigures(of: bridge).residentMemory)
            let value = [UInt8](repeating: 65, count: longest)
            for id in 1...16 { try peer.write(PeerCostTests.header(Int8(id), longest) + value) }
            try peer.write(PeerCostTests.header(0, 4) + [0, 0, 0x10, 0x41])
            try await body(bridge, connected, peer, before)
        }
    }

    @Test("it keeps half of what there is for all services, beside what it passes on", .backstop)
    func longValues() async throws {
        try await Self.bridging { bridge, _, _, before in
            try await bridge.nextEvent("dropped") { $0["element"] == "Picture 16" }
            let grown = try ProcessFigures(of: bridge).peakMemory - before
            // 32 MiB, a value that arrives, one that is data, text and message, and what the allocator keeps.
            if Sanitizer.current == nil { #expect(grown < 76 << 10, "\(grown) KiB") }
        }
    }

    @Test("a short value after a long one frees the long one", .backstop)
    func shortValues() async throws {
        try await Self.bridging(["--map", "Speed=Speed", "--only-mapped"]) { bridge, hub, service, _ in
            let figures = ProcessFigures(of: bridge)
            while !(try await hub.message()).contains("\"Speed\"") {}
            let before = try figures.residentMemory
            for id in 1...16 { try service.write(PeerCostTests.header(Int8(id), 1) + [65]) }
            guard Sanitizer.current == nil else { return }
            // They take 32 MiB, half of what there is.
            try await eventually("memory is freed") { try figures.residentMemory < before - (24 << 10) }
        }
    }
}
