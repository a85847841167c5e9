import Elemental
import ElementalWire
import TestSupport
import Testing
import WireVectors

/// The recorded frames of the older ElementalController, in both roles, against our service and our client.
struct OlderPeerTests {
    private static let accept = WireVectors.bytes(WireVectors.recorded.onAccept.serverSends)
    private static let name = WireVectors.bytes(WireVectors.recorded.clientHello.clientSends)

    /// A service that sends back what it gets, as the recorded one did.
    private func withEcho(_ body: (ElementalService, Int) async throws -> Void) async throws {
        try await withService(Recorded.all) { service, port in
            service.onAnyValue { element, value, device in try? device.send(value, to: element) }
            try await body(service, port)
        }
    }

    @Test
    func anOlderClientGetsWhatTheOlderServerWouldSendAndNothingMore() async throws {
        try await withEcho { service, port in
            // Values are set before, to check that an older client does not get them.
            _ = try service.send(.double(1), to: try #require(service.elements["double"]))
            let client = try RawSocket.connect(to: port)
            #expect(try await client.read(Self.accept.count) == Self.accept)
            try client.write(Self.name)
            for echo in WireVectors.recorded.tcpEchoes {
                try client.write(echo.bytes)
                #expect(try await client.read(echo.bytes.count) == echo.bytes, "\(echo)")
            }
            #expect(service.devices.map(\.name) == ["fake client"])
            #expect(service.devices.first?.hello == nil)
            client.closeOutput()
            #expect(try await client.readToEnd().isEmpty)
        }
    }

    @Test(arguments: WireVectors.recorded.tolerated)
    func anOlderClientsOddFramesAreTolerated(_ odd: WireVectors.Tolerated) async throws {
        try await withEcho { service, port in
            let client = try RawSocket.connect(to: port)
            _ = try await client.read(Self.accept.count)
            try client.write(Self.name + WireVectors.bytes(odd.sent))
            try await eventually {
                guard let device = service.devices.first else { return false }
                return device.statistics.messagesUnknown + device.statistics.messagesMalformed > 0
            }
            try client.write(WireVectors.bytes(odd.then))
            let echoed = WireVectors.bytes(odd.echoed)
            #expect(try await client.read(echoed.count) == echoed)
        }
    }

    @Test
    func anOlderClientsDatagramCountsOnlyFromItsHost() async throws {
        try await withEcho { service, port in
            let datagram = WireVectors.bytes(WireVectors.recorded.udpDatagram.datagram)
            let received = Transcript<Double>()
            service.onValue(of: try Element<Double>(try #require(service.elements[id: 20]))) { value, _ in
                received.add(value)
            }
            let client = try RawSocket.connect(to: port)
            _ = try await client.read(Self.accept.count)
            try client.write(Self.name)
            try await eventually { service.devices.count == 1 }
            // Another host of this machine's, then an identifier that nobody holds, then the client's own.
            try RawSocket.datagram(address: "127.0.0.9").send(datagram: datagram, to: port)
            var forged = datagram
            forged[5] = 77
            let own = try RawSocket.datagram()
            try own.send(datagram: forged, to: port)
            try own.send(datagram: datagram + datagram, to: port)
            try await received.wait(for: 2)
            #expect(received.all == [9.5, 9.5])
        }
    }

    @Test
    func anEmptyValueForAnOlderClientIsAClearError() async throws {
        try await withEcho { service, port in
            let client = try RawSocket.connect(to: port)
            _ = try await client.read(Self.accept.count)
            try client.write(Self.name)
            try await eventually { service.devices.count == 1 }
            let device = try #require(service.devices.first)
            let text = try #require(service.elements["string"])
            let error = #expect(throws: ElementalError.self) { try device.send(.string(""), to: text) }
            #expect(error?.code == .emptyValue)
            let failures = try service.send(.string(""), to: text)
            #expect(failures.map(\.error.code) == [.emptyValue])
            let udp = #expect(throws: ElementalError.self) {
                try device.send(.double(1), to: try #require(service.elements["datagram"]))
            }
            #expect(udp?.code == .udpUnavailable)
        }
    }

    @Test
    func ourClientWorksWithAnOlderServer() async throws {
        let (listener, port) = try RawSocket.listen(port: PortLease.port())
        let udp = try RawSocket.datagram(port: port)
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "fake client", elements: Recorded.all, options: .patient)
        let server = try await listener.accept()
        try server.write(Self.accept)
        let device = try await connecting
        #expect(try await server.read(Self.name.count) == Self.name)
        // The client's hello is the one extension that an older server sees; it skips it.
        let hello = try await server.readFrame()
        #expect(hello.id == SystemElement.hello.rawValue)
        #expect(device.udpIdentifier == 1)

        let received = Transcript<ElementValue>()
        device.onAnyValue { _, value, _ in received.add(value) }
        for (index, echo) in WireVectors.recorded.tcpEchoes.enumerated() {
            let element = try #require(Recorded.all[id: echo.id])
            try device.send(try ElementValue(text: echo.value.typed, type: element.type), to: element)
            #expect(try await server.read(echo.bytes.count) == echo.bytes, "\(echo)")
            try server.write(echo.bytes)
            try await received.wait(for: index + 1)
            #expect(received.all.last == (try ElementValue(text: echo.value.typed, type: element.type)))
        }

        let recorded = WireVectors.recorded.udpDatagram
        try device.send(.double(recorded.value), to: try #require(Recorded.all[id: recorded.id]))
        #expect(try await udp.readDatagram() == WireVectors.bytes(recorded.datagram))

        #expect(throws: ElementalError.self) { try device.send(.string(""), to: try #require(Recorded.all["string"])) }
        #expect(await errorCode { try await device.catalogue(timeout: .milliseconds(20)) } == .catalogueUnavailable)

        // The shutdown element, then the end.
        try server.write([0xfd, 4, 0, 0, 0] + Array("gone".utf8))
        let reason = try await device.waitUntilDisconnected()
        #expect(reason.kind == .shutDown("gone"))
        #expect(reason.isExpected)
    }

    @Test("an older server without UDP sends 0, and UDP sends fail with the reason")
    func anOlderServerWithoutUDP() async throws {
        let (listener, port) = try RawSocket.listen()
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "x", elements: Recorded.all, options: .patient)
        let server = try await listener.accept()
        try server.write([0xff, 1, 0, 0, 0, 0])
        let device = try await connecting
        let error = #expect(throws: ElementalError.self) {
            try device.send(.double(1), to: try #require(Recorded.all[id: 20]))
        }
        #expect(error?.code == .udpUnavailable)
        try device.send(.bool(true), to: try #require(Recorded.all["bool"]))
        _ = server
        device.disconnect()
    }
}
