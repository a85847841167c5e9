import Foundation
import NIOCore
import OSC
import TestSupport
import Testing

/// A service for paired clients behind a bridge, which has an identity of its own.
struct PairedServiceTests {
    @Test(.backstop, arguments: [true, false])
    func aServiceForPairedClients(hasControl: Bool) async throws {
        try await PairedLamp.with { lamp in
            let options = ["--port", "0", "--state", lamp.bridgeState, "--json"] + (hasControl ? ["--control"] : [])
            try await withCommand(["osc", lamp.target] + options) { bridge in
                let port = try #require(try await bridge.nextEvent("listening").number("port"))
                let command = try await lamp.pair(bridge)
                #expect(command.contains(hasControl ? "control" : "observe"), "\(command)")
                let surface = try RawSocket.datagram()
                func send(_ arguments: [OSCArgument]) throws {
                    var bytes = ByteBuffer()
                    bytes.writeOSC(OSCMessage("/\(OSCAddressLevel.level(lamp.target))/Level", arguments))
                    try surface.send(datagram: Array(bytes.readableBytesView), to: Int(port))
                }
                try send([.float(0.25)])
                if hasControl {
                    try await lamp.process.nextEvent("value") { $0.number("value") == 0.25 }
                } else {
                    try await bridge.nextEvent("notPassed") {
                        $0["direction"] == "toDevice" && $0["reason"] == "notAllowed"
                    }
                }
                // Whoever asks is answered with what it is: a surface that set it may rest for a while first.
                try send([])
                let answer = OSCMessage(
                    "/\(OSCAddressLevel.level(lamp.target))/Level", [.float(hasControl ? 0.25 : 0.5)])
                var received: OSCPacket?
                while received != .message(answer) {
                    try send([])
                    received = try OSCPacket(reading: ByteBuffer(bytes: try await surface.readDatagram()))
                }
            }
        }
    }
}
