import Elemental
import NIOCore
import SignalR
import TestSupport
import Testing

@testable import CommodoreGateway

/// The unmodified chat program's bytes over a line, through the gateway, to a real SignalR hub.
@Suite(
    .enabled(if: Peers.areThere, "the peers are set up by Tests/install signalr"), .backstop)
struct HubTests {
    /// The address that is fixed in the program.
    private static let address = "ws://192.168.86.250:5000/chat"

    private static func result(_ record: [UInt8]) -> [UInt8] { Array(record.dropFirst(2)) }

    /// Runs a gateway to the hub at a port of this machine, with a program that has asked for the connection.
    private func withProgram(
        hub port: Int, pingInterval: Duration = .seconds(15), _ body: (RawSocket) async throws -> Void
    ) async throws {
        try await withGateway {
            $0.hubs = [Self.address: "ws://127.0.0.1:\(port)/hub"]
            $0.hubPingInterval = pingInterval
        } _: { running in
            let machine = try RawSocket.connect(to: running.linePort)
            for command in [ModemCommand.stopWiFi, .startWiFi] {
                try machine.write(command.bytes)
                try await machine.expect(.ok)
            }
            try machine.write(ModemCommand.startWebSocket(Array(Self.address.utf8)).bytes)
            try await body(machine)
        }
    }

    @Test
    func itChatsThroughARealHub() async throws {
        try await Peers.withHub { _, port in
            try await withProgram(hub: port) { machine in
                try await machine.expect(.connected)
                try machine.write(ModemCommand.send(ChatProgram.handshake).bytes)
                try await machine.expect(.ok)
                try await machine.expect(.data(Array("{}\u{1e}".utf8)))

                try await Peers.with(
                    "signalrcore", "client_signalrcore.py", ["http://127.0.0.1:\(port)/hub", "Broadcast", "NewMessage"]
                ) { other in
                    try await other.nextLine(beginningWith: "open")
                    // The program sends a message: the other client receives it, and the program shows it.
                    var program = ChatProgram()
                    program.sent = []
                    program.say("Hello, world", as: "Rob")
                    try machine.write(program.sent)
                    try await other.nextLine(beginningWith: "Rob: Hello, world")
                    var records = [try await machine.readRecord(), try await machine.readRecord()]
                    records.sort { $0[0] < $1[0] }
                    #expect(records[0] == ModemResult.ok.bytes)
                    #expect(
                        Self.result(records[1])
                            == ChatMessage.payloads(
                                sender: Array("Rob".utf8), text: Array("Hello, world".utf8))[0])
                    // The other direction, in pieces that the program can show.
                    let long = String(repeating: "to the Commodore ", count: 20)
                    try other.writeLine(long)
                    var shown: [UInt8] = []
                    while shown.count < long.utf8.count {
                        let payload = Self.result(try await machine.readRecord())
                        #expect(payload[0] < 128)
                        #expect(payload[2] == 1)
                        var texts = ByteBuffer(bytes: payload[0x11...])
                        #expect(try texts.readMessagePackText() == ByteBuffer(string: "signalrcore"))
                        shown += try texts.readMessagePackText().readableBytesView + [0x20]
                    }
                    #expect(String(decoding: shown, as: UTF8.self).hasPrefix(long.dropLast()))
                }
            }
        }
    }

    @Test
    func theGatewayKeepsTheHubFromDroppingASilentProgram() async throws {
        let (listener, port) = try RawSocket.listen()
        try await withProgram(hub: port, pingInterval: .milliseconds(5)) { machine in
            let hub = ScriptedPeer(try await listener.accept())
            #expect(try await hub.upgrade().target == "/hub")
            try await machine.expect(.connected)
            // Nothing else is sent before and within the program's handshake, however long it takes: at 1200 baud each answer
            // takes three of those intervals.
            for byte in ChatProgram.handshake {
                try machine.write(ModemCommand.send([byte]).bytes)
                #expect(try await hub.frame().bytes == [byte])
                try await machine.expect(.ok)
            }
            try hub.write(ScriptedPeer.frame(Array("{}\u{1e}".utf8), opcode: 2))
            try await machine.expect(.data(Array("{}\u{1e}".utf8)))
            // Then it is silent: the hub gets the gateway's pings, and the program none of the hub's.
            let ping: [UInt8] = [0x02, 0x91, 0x06]
            for _ in 0..<3 {
                try hub.write(ScriptedPeer.frame(ping, opcode: 2))
                #expect(try await hub.frame() == ScriptedPeer.Frame(opcode: 2, isLast: true, bytes: ping))
            }
            let said = ChatMessage.invocation("NewMessage", "Ada", "Hi")
            try hub.write(ScriptedPeer.frame(said, opcode: 2))
            let shown = ChatMessage.payloads(sender: Array("Ada".utf8), text: Array("Hi".utf8))[0]
            try await machine.expect(.data(shown))
        }
    }

    @Test
    func aHubThatIsNotThereIsDisconnected() async throws {
        try await withProgram(hub: PortLease.port()) { machine in
            try await machine.expect(.disconnected)
        }
    }

    @Test
    func theEndOfTheHubIsTold() async throws {
        try await Peers.withHub { server, port in
            try await withProgram(hub: port) { machine in
                try await machine.expect(.connected)
                await server.end()
                try await machine.expect(.disconnected)
            }
        }
    }
}

extension RawSocket {
    fileprivate func expect(_ result: ModemResult, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await readRecord() == result.bytes, sourceLocation: sourceLocation)
    }
}
