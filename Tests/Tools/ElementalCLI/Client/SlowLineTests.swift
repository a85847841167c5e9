import Foundation
import TestSupport
import Testing

/// `elemental set` and a Commodore on a line that is slower than the values sent.
struct SlowLineTests {
    /// A gateway with a program that is connected, at 50 baud: five bytes a second.
    private func withSlowMachine(_ body: (_ target: String) async throws -> Void) async throws {
        try await Den.with(["--listen", "127.0.0.1:0", "--baud", "50", "--allow-memory"]) { gateway, name, target in
            let line = try RawSocket.connect(to: port(of: name))
            // STOP_WIFI, START_WIFI and START_WEBSOCKET; the answers do not matter.
            let address = Array("elemental:slow".utf8)
            try line.write([4, 0, 3, 0, 5, UInt8(address.count)] + address)
            try await gateway.nextEvent("program") { $0["name"] == "slow" && $0["connected"] == true }
            try await body(target)
        }
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test
    func valuesQueuedForTheLineCountAsArrived() async throws {
        try await withSlowMachine { target in
            for assignments in [
                ["print=\(Self.text(1500))"], ["print=\(Self.text(100_000))"],
                ["print=\(Self.text(1500))", "border=6", "print=\(Self.text(1500))", "print=\(Self.text(1500))"],
            ] {
                // At this speed the line needs minutes for it.
                let set = try await ElementalProcess.run(["set", target] + assignments)
                #expect(set.status == .exited(0), "\(set.errors)")
            }
        }
    }

    @Test
    func aValueThatTheMachineCannotTakeIsRefusedWithTheReason() async throws {
        try await withSlowMachine { target in
            let set = try await expectFailure("set", target, "memoryRead=0004f9", status: 2)
            let reason = "memoryRead takes an address of 2 bytes and a count of 1 to 248"
            #expect(set.errors.contains { $0.hasSuffix("refused 'memoryRead': \(reason)") }, "\(set.errors)")
            #expect(set.output.isEmpty)
        }
    }
}
