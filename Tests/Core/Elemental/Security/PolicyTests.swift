import ElementalWire
import TestSupport
import Testing
import WireVectors

@testable import Elemental

/// The policies of a real service and clients without pairing: older ones, by the recorded frames, and today's.
struct PolicyTests {
    private static let accept = WireVectors.bytes(WireVectors.recorded.onAccept.serverSends)
    private static let name = WireVectors.bytes(WireVectors.recorded.clientHello.clientSends)

    private func withEcho(
        _ policy: SecurityPolicy, _ body: (ElementalService, Int, Transcript<ElementValue>) async throws -> Void
    ) async throws {
        let security = ServiceSecurity(policy: policy, keys: nil)
        try await withService(Recorded.all, { $0.security = security }) { service, port in
            let received = Transcript<ElementValue>()
            service.onAnyValue { element, value, device in
                received.add(value)
                try? device.send(value, to: element)
            }
            try await body(service, port, received)
        }
    }

    @Test
    func anOlderClientReadsFromAServiceThatPairsToControl() async throws {
        try await withEcho(.pairedToControl) { service, port, received in
            let client = try RawSocket.connect(to: port)
            #expect(try await client.read(Self.accept.count) == Self.accept)
            try client.write(Self.name)
            try await eventually { service.devices.map(\.name) == ["fake client"] }
            let device = try #require(service.devices.first)
            let datagrams = try RawSocket.datagram()
            for (index, echo) in WireVectors.recorded.tcpEchoes.enumerated() {
                try client.write(echo.bytes)
                try await eventually { device.statistics.messagesRejected == index + 1 }
            }
            let count = WireVectors.recorded.tcpEchoes.count
            try datagrams.send(datagram: WireVectors.bytes(WireVectors.recorded.udpDatagram.datagram), to: port)
            try await eventually { device.statistics.messagesRejected == count + 1 }
            #expect(received.all.isEmpty)
            // It gets what the service sends, in the recorded bytes, and nothing else.
            for echo in WireVectors.recorded.tcpEchoes {
                let element = try #require(Recorded.all[id: echo.id])
                _ = try service.send(try ElementValue(text: echo.value.typed, type: element.type), to: element)
                #expect(try await client.read(echo.bytes.count) == echo.bytes, "\(echo)")
            }
            client.closeOutput()
            #expect(try await client.readToEnd().isEmpty)
        }
    }

    @Test(arguments: WireVectors.recorded.tolerated)
    func anOlderClientsOddFramesAreToleratedByAServiceThatPairsToControl(_ odd: WireVectors.Tolerated) async throws {
        try await withEcho(.pairedToControl) { service, port, received in
            let client = try RawSocket.connect(to: port)
            _ = try await client.read(Self.accept.count)
            try client.write(Self.name + WireVectors.bytes(odd.sent) + WireVectors.bytes(odd.then))
            try await eventually { (service.devices.first?.statistics.messagesRejected ?? 0) > 0 }
            try service.send(.bool(true), to: try #require(Recorded.all["bool"]))
            let frame = try await client.readFrame()
            #expect(frame.id == Recorded.all["bool"]?.id && frame.value == [1])
            #expect(received.all.isEmpty)
        }
    }

    /// Whenever it says something, and whatever it says.
    @Test(arguments: [[], name, name + frame(-4, Hello(features: .ofClient).wireBytes) + frame(-6, [1])])
    func anyPlainClientOfAPairedServiceGetsTheReasonAndNothingElse(_ sent: [UInt8]) async throws {
        try await withEcho(.paired) { service, port, received in
            let asked = Transcript<String>()
            service.onConnectionRequest { request in
                asked.add(request.address)
                return .accept
            }
            let client = try RawSocket.connect(to: port)
            try client.write(sent + WireVectors.recorded.tcpEchoes.flatMap(\.bytes))
            client.closeOutput()
            let text = "refused: this service requires pairing; pair this client: elemental pair HOST:PORT"
            #expect(try await client.readToEnd() == frame(-3, Array(text.utf8)))
            try RawSocket.datagram().send(
                datagram: WireVectors.bytes(WireVectors.recorded.udpDatagram.datagram), to: port)
            #expect(received.all.isEmpty && service.devices.isEmpty && asked.all.isEmpty)
        }
    }

    @Test
    func todaysClientOfAPairedServiceIsToldWhatToDo() async throws {
        try await withService(Lamp.all, { $0.security = ServiceSecurity(policy: .paired, keys: nil) }) { _, port in
            let error = await #expect(throws: ElementalError.self) { _ = try await connect(port) }
            #expect(error?.code == .unauthenticated)
            #expect(error?.message.contains("elemental pair") == true)
        }
    }

    /// The command in the text is for a shell.
    @Test(arguments: [
        ("Rover", "elemental pair 'robot/Rover'"), ("Desk lamp", "elemental pair 'robot/Desk lamp'"),
        ("a'b", #"elemental pair 'robot/a'\''b'"#), ("$(reboot)", "elemental pair 'robot/$(reboot)'"),
        ("É", "elemental pair 'robot/É'"),
    ])
    func thePairingCommandIsQuoted(_ name: String, _ command: String) {
        let service = ElementalService("robot", displayName: name, elements: [])
        #expect(service.shared.pairingCommand == command)
    }
}
