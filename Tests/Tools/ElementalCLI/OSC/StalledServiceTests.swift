import NIOCore
import OSC
import TestSupport
import Testing

/// `elemental osc` between surfaces that send without end and a service that reads nothing.
struct StalledServiceTests {
    @Test("what waits for a service is bounded in bytes, and what has no room is told", .backstop)
    func blobs() async throws {
        let service = try ScriptedService()
        try await withCommand(["osc", service.target, "--control", "--port", "0", "--json"]) { bridge in
            let peer = try await service.accept([.init(id: 1, type: 12, name: Array("Picture".utf8))])
            let port = Int(try #require(try await bridge.nextEvent("listening").number("port")))
            let prefix: String = try #require(try await bridge.nextEvent("shown")["prefix"])
            var message = ByteBuffer()
            message.writeOSC(OSCMessage(prefix + "Picture", [.blob(ByteBuffer(repeating: 1, count: 60_000))]))
            let (surface, datagram) = (try RawSocket.datagram(), Array(message.readableBytesView))
            let before = try ProcessFigures(of: bridge).residentMemory
            try await eventually("a value has no room") {
                for _ in 0..<20 { try surface.send(datagram: datagram, to: port) }
                return !bridge.events("dropped").isEmpty
            }
            for _ in 0..<1000 { try surface.send(datagram: datagram, to: port) }
            let grown = try ProcessFigures(of: bridge).peakMemory - before
            // 8 MiB for the device, 4 MiB that were sent and not confirmed, 1 MiB that waits, and what a read brings.
            if Sanitizer.current == nil { #expect(grown < 40 << 10, "\(grown) KiB") }
            withExtendedLifetime(peer) {}
        }
    }
}
