import Foundation
import TestSupport
import Testing

/// What a service can cost the commands that follow any that is announced.
struct HostileServiceTests {
    private static let longest = 4 << 20

    /// Follows a service that sends sixteen values of 4 MiB and then a number.
    ///
    /// - Parameter kept: the most bytes of values that the command keeps: half of what all may have, or nothing.
    private static func following(
        _ command: String, keeps kept: Int = 32 << 20, _ body: (_ follower: ChildProcess) async throws -> Void
    ) async throws {
        let service = try ScriptedService()
        try await withCommand([command, service.target, "--json", "--port", "0"]) { follower in
            let entries = (1...16).map {
                ScriptedService.Entry(id: UInt8($0), type: 12, name: Array("Picture \($0)".utf8))
            }
            let peer = try await service.accept([ScriptedService.Entry(id: 0)] + entries)
            try await follower.nextEvent("serviceState") { $0["state"] == "connected" }
            let before = try ProcessFigures(of: follower).residentMemory
            let value = [UInt8](repeating: 65, count: longest)
            for id in 1...16 { try peer.write(PeerCostTests.header(Int8(id), longest) + value) }
            try peer.write(PeerCostTests.header(0, 4) + [0, 0, 0x10, 0x41])
            try await body(follower)
            let grown = try ProcessFigures(of: follower).peakMemory - before
            // Besides, a value that arrives, and what the allocator keeps. A sanitizer has its own.
            if Sanitizer.current == nil { #expect(grown < (kept >> 10) + (20 << 10), "\(grown) KiB") }
        }
    }

    @Test("values of a service take half of what there is for all, and further ones are left out", .backstop)
    func longValues() async throws {
        for command in ["dashboard", "osc"] {
            try await Self.following(command) { follower in
                let event = try await follower.nextEvent("valueLeftOut")
                #expect(event.number("bytes") == Double(Self.longest), "\(event)")
            }
        }
    }

    @Test("metrics keep no texts and data", .backstop)
    func unusedValues() async throws {
        try await Self.following("metrics", keeps: 0) { metrics in
            let url: String? = metrics.events("serving").first?["url"]
            let port = try #require(url.flatMap { URLComponents(string: $0)?.port })
            try await eventually { try await MetricsTests().get(port).text.contains("element=\"Speed\"} 9") }
            #expect(metrics.events("valueLeftOut").isEmpty)
        }
    }

    @Test("a value above 4 MiB ends the connection, unless --max-value allows it", .backstop)
    func longestValue() async throws {
        for (options, isTaken) in [([], false), (["--max-value", "8000000"], true)] {
            let service = try ScriptedService()
            try await withCommand(["metrics", service.target, "--json", "--port", "0"] + options) { metrics in
                let peer = try await service.accept([.init(id: 1, type: 12)])
                try await metrics.nextEvent("serviceState") { $0["state"] == "connected" }
                try peer.write(PeerCostTests.header(1, Self.longest + 1))
                guard !isTaken else { return try peer.write([UInt8](repeating: 65, count: Self.longest + 1)) }
                let state = try await metrics.nextEvent("serviceState") { $0["state"] == "away" }
                let message: String = state["message"] ?? ""
                #expect(message.contains("the limit is 4194304"), "\(message)")
            }
        }
    }

    @Test("values that never end take no more than there is for all services, and no connection", .backstop)
    func incompleteValues() async throws {
        let services = try (0..<17).map { _ in try ScriptedService() }
        try await withCommand(["metrics", "--json", "--port", "0"] + services.map(\.target)) { metrics in
            var peers: [RawSocket] = []
            for service in services {
                let peer = try await service.accept([.init(id: 0), .init(id: 1, type: 12, name: Array("Picture".utf8))])
                try peer.write(PeerCostTests.header(1, Self.longest) + [UInt8](repeating: 65, count: Self.longest - 1))
                peers.append(peer)
            }
            let event = try await metrics.nextEvent("valueLeftOut")
            #expect(event.number("bytes") == Double(Self.longest), "\(event)")
            for peer in peers { try peer.write([65] + PeerCostTests.header(0, 4) + [0, 0, 0x10, 0x41]) }
            let url: String? = metrics.events("serving").first?["url"]
            let port = try #require(url.flatMap { URLComponents(string: $0)?.port })
            try await eventually {
                let text = try await MetricsTests().get(port).text
                return text.split(separator: "\n").count { $0.contains("element=\"Speed\"} 9") } == services.count
            }
            #expect(!metrics.events("serviceState").contains { $0["state"] == "away" })
        }
    }
}
