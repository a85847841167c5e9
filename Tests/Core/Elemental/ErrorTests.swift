import Elemental
import ElementalWire
import Foundation
import TestSupport
import Testing

/// Errors and their messages.
struct ErrorTests {
    @Test
    func sendsThatAreRefused() async throws {
        try await withPair { service, device in
            #expect(await errorCode { try device.send(1.5, to: Lamp.brightness) } == .outOfRange)
            #expect(await errorCode { try device.send(.nan, to: Lamp.brightness) } == .outOfRange)
            #expect(await errorCode { try device.send(1, to: Lamp.reading) } == .notAllowed)
            #expect(await errorCode { try service.send(1, to: Lamp.command) } == .notAllowed)
            #expect(await errorCode { try service.send(2, to: Lamp.brightness) } == .outOfRange)
            #expect(await errorCode { try device.send(.double(1), to: Lamp.brightness.definition) } == .wrongType)
            #expect(await errorCode { try service.send(true, to: Element<Bool>(99, "Unknown")) } == .unknownElement)
            let large = Element<Data>(4, "Blob", transport: .udp)
            #expect(await errorCode { try device.send(Data(count: 65_502), to: large) } == .datagramTooLarge)
            await device.close()
            #expect(await errorCode { try device.send(0.5, to: Lamp.brightness) } == .notConnected)
            #expect(device.disconnectReason?.kind == .closedHere)
            try await eventually { service.devices.isEmpty }
        }
    }

    /// The length on the wire has 32 bits. The values' memory is never touched.
    @Test(arguments: ConnectionKind.allCases)
    func valuesThatNoFrameCanAnnounceAreRefused(over kind: ConnectionKind) async throws {
        let size = 1 << 32
        let memory = try #require(
            mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0).flatMap {
                $0 == MAP_FAILED ? nil : $0
            })
        defer { munmap(memory, size) }
        let huge = Data(bytesNoCopy: memory, count: size, deallocator: .none)
        let newest = Element<Data>(9, "Newest", latest: true)
        let datagram = Element<Data>(10, "Datagram", transport: .udp)
        let elements: ElementCatalogue = [Lamp.blob, newest, datagram]
        try await withPair(elements, client: elements, over: kind) { service, device in
            for element in [Lamp.blob, newest] {
                let error = await elementalError { try device.send(huge, to: element) }
                #expect(error?.code == .invalidValue)
                #expect(error?.message.contains("4294967296 bytes cannot be sent") == true, "\(error?.message ?? "")")
                #expect(await errorCode { try device.send(.data(huge), to: element.definition) } == .invalidValue)
                #expect(await errorCode { try await device.sendWhenReady(huge, to: element) } == .invalidValue)
                #expect(await errorCode { try service.send(huge, to: element) } == .invalidValue)
                #expect(service.value(of: element) == nil)
            }
            #expect(await errorCode { try device.send(huge, to: datagram) } == .datagramTooLarge)
            // The connection goes on.
            try await device.ping()
            #expect(device.statistics.messagesSent == 0)
        }
    }

    @Test
    func aMismatchOfTypesIsToldByName() async throws {
        try await withService { _, port in
            let error = await elementalError { try await connect(port, elements: [Element<Double>(1, "Brightness")]) }
            #expect(error?.code == .catalogueMismatch)
            #expect(error?.message.contains("Brightness") == true)
            #expect(error?.message.contains("double") == true && error?.message.contains("float") == true)
            // An element that the service lacks does not affect the others.
            let extra = Element<Bool>(90, "Horn")
            let device = try await connect(port, elements: [Lamp.brightness, extra])
            try device.send(0.5, to: Lamp.brightness)
            let missing = #expect(throws: ElementalError.self) { try device.send(true, to: extra) }
            #expect(missing?.code == .unknownElement)
            #expect(missing?.message.contains("Horn") == true)
            await device.close()
        }
    }

    @Test
    func aClientWithoutElementsGetsTheCatalogue() async throws {
        try await withPair(client: nil) { _, device in
            #expect(try await device.catalogue() == Lamp.all)
            #expect(device.knownElements == Lamp.all)
            try device.send(.float(0.5), to: try #require(device.knownElements["brightness"]))
        }
    }

    @Test
    func aTakenPortIsAnErrorThatSaysSo() async throws {
        try await withService { _, port in
            let error = await elementalError { try await withService(Lamp.all, { $0.port = port }) { _, _ in } }
            #expect(error?.code == .addressInUse)
            #expect(error?.message.contains("\(port)") == true)
        }
    }

    @Test("a port whose UDP half is in use is an error, and its TCP half is released")
    func aPortTakenForUDPOnly() async throws {
        let udp = try RawSocket.datagram(port: PortLease.port())
        let port = try udp.localPort()
        for _ in 0..<2 {
            let error = await elementalError { try await withService(Lamp.all, { $0.port = port }) { _, _ in } }
            #expect(error?.code == .addressInUse)
        }
        try await withService(
            Lamp.all,
            {
                $0.port = port
                $0.allowsUDP = false
            }
        ) { _, got in #expect(got == port) }
    }

    @Test
    func connectingToNothing() async throws {
        let (listener, port) = try RawSocket.listen()
        let refused = await #expect(throws: ElementalError.self) { _ = try await connect(try PortLease.port()) }
        #expect(refused?.code == .connectionFailed)
        #expect(refused?.message.contains("nothing listens") == true)

        let unknown = await #expect(throws: ElementalError.self) {
            _ = try await ElementalDevice.connect(host: "no-such-host.invalid", port: 1, as: "x", options: .patient)
        }
        #expect(unknown?.code == .hostNotFound)

        // Something listens and says nothing.
        var options = ConnectOptions.patient
        options.timeout = .milliseconds(50)
        let silent = await #expect(throws: ElementalError.self) {
            _ = try await ElementalDevice.connect(host: "127.0.0.1", port: port, as: "x", options: options)
        }
        #expect(silent?.code == .timedOut)
        withExtendedLifetime(listener) {}
    }

    @Test(arguments: [-1, 65_536, Int.max])
    func aNumberThatIsNoPortIsAnError(_ port: Int) async throws {
        for host in ["127.0.0.1", "localhost"] {
            #expect(
                await errorCode { try await ElementalDevice.connect(host: host, port: port, as: "x") } == .invalidValue)
            let pairing = await errorCode {
                try await ServicePlace.address(host: host, port: port).pair(as: "x", options: .patient) { _ in nil }
            }
            #expect(pairing == .invalidValue)
        }
        for address in [nil, "127.0.0.1", "localhost"] {
            var configuration = ServiceConfiguration()
            configuration.address = address
            configuration.port = port
            let service = ElementalService("test", elements: Lamp.all, configuration: configuration)
            #expect(await errorCode { try await service.start() } == .invalidValue)
        }
    }

    @Test
    func connectingCanBeCancelled() async throws {
        let (listener, port) = try RawSocket.listen()
        let connecting = Task {
            try await ElementalDevice.connect(host: "127.0.0.1", port: port, as: "x", options: .patient)
        }
        let server = try await listener.accept()
        connecting.cancel()
        #expect(await errorCode { try await connecting.value } == .cancelled)
        _ = server
    }

    @Test
    func aServiceRefusesByAddressByNameAndByNumber() async throws {
        try await withService(Lamp.all, { $0.maximumDeviceCount = 1 }) { service, port in
            service.onConnectionRequest { request in
                if request.name == "intruder" { return .refuse("no \(request.name ?? "")s") }
                return request.host == "127.0.0.2" ? .refuse("wrong host") : .accept
            }
            let byName = await #expect(throws: ElementalError.self) { _ = try await connect(port, as: "intruder") }
            #expect(byName?.code == .unauthenticated)
            #expect(byName?.message.contains("no intruders") == true)
            let stranger = try RawSocket.connect(to: port, from: "127.0.0.2")
            let frame = try await stranger.readFrame()
            #expect(frame.id == SystemElement.shutdown.rawValue)
            #expect(String(decoding: frame.value, as: UTF8.self) == "refused: wrong host")
            stranger.closeOutput()
            #expect(try await stranger.readToEnd().isEmpty)
            let device = try await connect(port)
            #expect(await errorCode { try await connect(port) } == .unauthenticated)
            #expect(service.devices.count == 1)
            await device.close()
        }
    }

    private static let earlyHello = frame(
        SystemElement.hello.rawValue, Hello(features: [.catalogue, .wantsCatalogue]).wireBytes)
    private static let earlyValue = frame(Int8(Lamp.brightness.id), [0, 0, 0, 0x3f])

    /// Also in pieces, which a hello permits.
    @Test(arguments: [
        earlyHello, earlyValue, earlyHello + earlyValue,
        earlyHello
            + frame(SystemElement.piece.rawValue, [UInt8(Lamp.brightness.id), 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3f]),
    ])
    func aDecisionByNameIsNotSkipped(_ bytes: [UInt8]) async throws {
        try await withService(Lamp.all, { $0.limits.handshakeTimeout = .milliseconds(50) }) { service, port in
            let values = Transcript<Float>()
            service.onValue(of: Lamp.brightness) { value, _ in values.add(value) }
            service.onConnectionRequest { $0.name == nil ? .accept : .refuse("no names") }
            let client = try RawSocket.connect(to: port)
            try client.write(bytes)
            #expect(try await client.readFrame().id == SystemElement.udpIdentifier.rawValue)
            var refusal = try await client.readFrame()
            // Pieces are acknowledged, whatever is in them.
            if refusal.id == SystemElement.piecesTaken.rawValue { refusal = try await client.readFrame() }
            #expect(refusal.id == SystemElement.shutdown.rawValue)
            #expect(
                String(decoding: refusal.value, as: UTF8.self)
                    == "refused: the client's name did not arrive within 0.05 seconds")
            client.closeOutput()
            #expect(try await client.readToEnd().isEmpty)
            #expect(values.all.isEmpty)
        }
    }

    @Test
    func aHelloBeforeTheNameIsAnsweredAfterTheDecision() async throws {
        try await withService { service, port in
            service.onConnectionRequest { $0.name == "intruder" ? .refuse("no intruders") : .accept }
            for (name, answer) in [("intruder", SystemElement.shutdown), ("guest", .hello)] {
                let client = try RawSocket.connect(to: port)
                try client.write(Self.earlyHello + frame(SystemElement.deviceName.rawValue, Array(name.utf8)))
                #expect(try await client.readFrame().id == SystemElement.udpIdentifier.rawValue)
                #expect(try await client.readFrame().id == answer.rawValue)
            }
        }
    }

    @Test
    func stoppingAServiceTellsItsDevicesWhyAfterWhatWasQueued() async throws {
        let gone = Transcript<String>()
        try await withService(Lamp.all, { $0.limits.closeTimeout = Patience.wait }) { service, port in
            service.onEvent { event in
                if case .deviceDisconnected(let device, let reason) = event {
                    gone.add("\(device.name): \(reason.code)")
                }
            }
            let device = try await connect(port)
            try await eventually { service.devices.count == 1 }
            for index in 0..<1000 { try service.send(Double(index), to: Lamp.reading) }
            await service.stop(reason: "battery empty")
            let reason = try await device.waitUntilDisconnected()
            #expect(reason.kind == .shutDown("battery empty"))
            #expect(reason.isExpected)
            #expect(device.value(of: Lamp.reading) == 999)
            try await gone.wait(for: 1)
            #expect(gone.all == ["tester: closedHere"])
            // It can be started again.
            try await service.start()
            let again = try await connect(try #require(service.port))
            await again.close()
        }
    }

    @Test
    func aServerThatVanishesIsUnexpected() async throws {
        let (listener, port) = try RawSocket.listen()
        async let connecting = ElementalDevice.connect(host: "127.0.0.1", port: port, as: "x", options: .patient)
        var server: RawSocket? = try await listener.accept()
        try server?.write([0xff, 1, 0, 0, 0, 1])
        let device = try await connecting
        _ = try await server?.readFrame()
        _ = try await server?.readFrame()
        server = nil
        let reason = try await device.waitUntilDisconnected()
        #expect(reason.kind == .closedByPeer)
        #expect(!reason.isExpected)
    }
}
