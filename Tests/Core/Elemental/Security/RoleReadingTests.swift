import ElementalWire
import NIOCore
import TestSupport
import Testing

@testable import Elemental

/// What clients of each role get from a service.
struct RoleReadingTests {
    @Test(arguments: [
        (SecurityPolicy.pairedToControl, Role.plain, "1ro 2ro 4ro 5ro 11ro"),
        (.pairedToControl, .observe, "1ro 2ro 4ro 5rw 11ro"),
        (.pairedToControl, .control, "1rw 2rw 3rw 4ro 5rw 6wo 7rw 8rw 9rw 11rw"),
        (.paired, .observe, "1ro 2ro 4ro 5rw 11ro"),
        (.paired, .admin, "1rw 2rw 3rw 4rw 5rw 6wo 7rw 8rw 9rw 10rw 11rw"),
        (.open, .plain, "1rw 2rw 3rw 4rw 5rw 6wo 7rw 8rw 9rw 10rw 11rw"),
    ])
    func aClientLearnsTheElementsOfItsRole(_ policy: SecurityPolicy, _ role: Role, _ accesses: String) async throws {
        try await RoleService.with(policy) { house in
            let device = try await house.connect(role)
            #expect(device.knownElements.accesses == accesses)
            #expect(try house.device(role.rawValue).grantedRole == role)
            #expect(try house.device(role.rawValue).knownElements.accesses == accesses)
            // All of a program's own elements are listed for the service itself.
            #expect(house.service.elements == House.all)
            await device.close()
        }
    }

    @Test
    func anOpenServicesCatalogueIsTheSameBytesWhateverItsElementsAskFor() async throws {
        try await RoleService.with(.open) { house in
            let (peer, _) = try await house.connectRaw(.plain)
            try peer.write(frame(-2, Array("x".utf8)) + frame(-4, Hello(features: .ofClient).wireBytes))
            let hello = try await peer.readFrame()
            #expect(hello.id == -4 && hello.value == Hello(features: .ofService).wireBytes)
            let catalogue = try await peer.readFrame()
            #expect(catalogue.id == -5 && catalogue.value == House.all.wireBytes)
        }
    }

    /// Values set before the client connects, and after; a client with its own definitions asks for all of them.
    @Test(arguments: [nil, House.permissive])
    func aClientGetsOnlyTheValuesOfItsRole(_ elements: ElementCatalogue?) async throws {
        try await RoleService.with(.pairedToControl) { house in
            let service = house.service
            let film = Data(repeating: 7, count: 300_000)
            func set(_ text: String, _ number: UInt32) throws {
                #expect(try service.send(text, to: House.secret).isEmpty)
                #expect(try service.send(text, to: House.key).isEmpty)
                #expect(try service.send(number, to: House.level).isEmpty)
                #expect(try service.send(film, to: House.film).isEmpty)
                #expect(try service.send(Float(number), to: House.position).isEmpty)
                #expect(try service.send(Float(number) / 10, to: House.light).isEmpty)
            }
            try set("before", 1)
            let received = Transcript<Int8>()
            let plain = try await house.connect(.plain, elements: elements) { device in
                device.onAnyValue { element, _, _ in received.add(element.id) }
            }
            let observer = try await house.connect(.observe, elements: elements)
            let controller = try await house.connect(.control, elements: elements)
            try set("after", 2)
            _ = try service.send(Vector3(1, 2, 3), to: House.motion)
            for device in [plain, observer] {
                try await eventually { device.value(of: House.motion) == Vector3(1, 2, 3) }
                try await device.ping()
                #expect(device.value(of: House.light) == 0.2)
                #expect(device.value(of: House.secret) == nil)
                #expect(device.value(of: House.key) == nil)
                #expect(device.value(of: House.level) == nil)
                #expect(device.value(of: House.position) == nil)
                #expect(device.value(of: House.film) == nil)
                // Not that the client's end dropped them.
                #expect(device.statistics.messagesUnknown == 0)
                #expect(device.statistics.bytesReceived < film.count)
            }
            #expect(Set(received.all) == [1, 2])
            try await eventually { controller.value(of: House.film) == film && controller.value(of: House.level) == 2 }
            #expect(controller.value(of: House.secret) == "after")
            #expect(controller.value(of: House.key) == nil)
            for device in [plain, observer, controller] { await device.close() }
        }
    }

    /// It is ready without a hello, by a value of its own.
    @Test
    func anOlderClientGetsOnlyTheValuesOfItsRoleToo() async throws {
        try await RoleService.with(.pairedToControl) { house in
            for greeting in [frame(-2, Array("older".utf8)), frame(1, [0, 0, 0, 0])] {
                let (peer, _) = try await house.connectRaw(.plain)
                try peer.write(greeting)
                try await eventually { house.service.devices.count == 1 }
                try house.service.send("hidden", to: House.secret)
                try house.service.send(7, to: House.level)
                try house.service.send(0.5, to: House.light)
                let received = try await peer.readFrame()
                #expect(received.id == House.light.id)
                peer.closeOutput()
                #expect(try await peer.readToEnd().isEmpty)
                try await eventually { house.service.devices.isEmpty }
            }
        }
    }

    /// The unsent value of a `latest` element, and datagrams, leave by other queues.
    @Test
    func whatWaitsForAClientIsOnlyOfItsRole() async throws {
        try await RoleService.with(.paired) { house in
            let observer = try await house.connect(.observe)
            let here = try house.device("observe")
            try await house.eventLoop.submit {
                // Nothing is written before the loop's next turn.
                for number in 0..<100 {
                    _ = try house.service.send(UInt32(number), to: House.level)
                    _ = try house.service.send(Float(number), to: House.position)
                    _ = try house.service.send(Data(count: 200_000), to: House.film)
                }
                #expect(here.queuedByteCount == 0)
                let counts = here.outbound.withLock { ($0.messagesWaiting, $0.pieces?.byteCount ?? 0) }
                #expect(counts == (0, 0))
            }.get()
            #expect(here.statistics.messagesSent == 0)
            await observer.close()
        }
    }

    @Test
    func sendingOneClientWhatItMayNotReadIsAnError() async throws {
        try await RoleService.with(.paired) { house in
            let observer = try await house.connect(.observe)
            let here = try house.device("observe")
            for attempt in [
                { try here.send("x", to: House.secret) }, { try here.send(1, to: House.level) },
                { try here.send(1, to: House.position) }, { try here.send(Data(count: 500_000), to: House.film) },
                { try here.send(.string("x"), to: House.key) },
            ] as [() throws -> Void] {
                let error = #expect(throws: ElementalError.self) { try attempt() }
                #expect(error?.code == .notAuthorised)
                #expect(error?.message.contains("'observe'") == true)
            }
            try here.send(0.5, to: House.light)
            try await eventually { observer.value(of: House.light) == 0.5 }
            await observer.close()
        }
    }

    @Test
    func aStreamHasOnlyValuesOfItsRole() async throws {
        try await RoleService.with(.pairedToControl) { house in
            let plain = try await house.connect(.plain, elements: House.permissive)
            let secrets = Task { [values = plain.values(of: House.secret)] in
                var all: [String] = []
                for await value in values { all.append(value) }
                return all
            }
            let lights = Task { [values = plain.values(of: House.light)] in
                var all: [Float] = []
                for await value in values {
                    all.append(value)
                    if value == 1 { break }
                }
                return all
            }
            for value: Float in [0.25, 0.5, 1] {
                try house.service.send("\(value)", to: House.secret)
                try house.service.send(value, to: House.light)
            }
            #expect(await lights.value == [0.25, 0.5, 1])
            await plain.close()
            #expect(await secrets.value == [])
        }
    }

    @Test
    func relayedValuesGoToThoseWhoMayReadThem() async throws {
        try await RoleService.with(.pairedToControl) { house in
            house.service.relayAll()
            let plain = try await house.connect(.plain, elements: House.permissive)
            let controller = try await house.connect(.control, as: "one")
            let other = try await house.connect(.control, as: "other")
            let admin = try await house.connect(.admin)
            try controller.send("open sesame", to: House.secret)
            try admin.send("1234", to: House.key)
            try controller.send(0.5, to: House.light)
            for device in [controller, other, admin] {
                try await eventually { device.value(of: House.secret) == "open sesame" }
            }
            try await eventually { admin.value(of: House.key) == "1234" && plain.value(of: House.light) == 0.5 }
            for device in [plain, controller, other] {
                try await device.ping()
                #expect(device.value(of: House.key) == nil)
            }
            #expect(plain.value(of: House.secret) == nil)
            for device in [plain, controller, other, admin] { await device.close() }
        }
    }

    /// A client that is still connected with earlier elements, when the service sets a value of a new one.
    @Test
    func newElementsAreWithheldFromClientsOfEarlierOnesToo() async throws {
        let before: ElementCatalogue = [House.light, Element<String>(3, "Note")]
        try await RoleService.with(.pairedToControl, elements: before) { house in
            let late = try house.open(.plain)
            let (peer, _) = try await house.connectRaw(.plain)
            try peer.write(frame(-2, Array("x".utf8)) + frame(-4, Hello(features: []).wireBytes))
            try await eventually { house.service.devices.count == 1 }
            house.service.update(elements: [House.light, House.secret])
            try house.service.send("hidden", to: House.secret)
            // Connected before, and ready only now.
            try late.write(frame(-2, Array("y".utf8)) + frame(-4, Hello(features: []).wireBytes))
            try await eventually { house.service.devices.count == 2 }
            try house.service.send("hidden", to: House.secret)
            try house.service.send(0.5, to: House.light)
            for (peer, ids) in [(peer, [-4, 1]), (late, [-1, -4, 1])] as [(RawSocket, [Int8])] {
                for id in ids { #expect(try await peer.readFrame().id == id) }
            }
        }
    }

    @Test
    func theServicesDecisionKnowsTheRole() async throws {
        try await RoleService.with(.pairedToControl) { house in
            let asked = Transcript<String>()
            house.service.onConnectionRequest { request in
                asked.add("\(request.name ?? "-") \(request.role)")
                return request.role >= .control ? .accept : .refuse("not you")
            }
            let device = try await house.connect(.control)
            #expect(await errorCode { try await house.connect(.observe) } == .unauthenticated)
            #expect(asked.all == ["- control", "control control", "- observe"])
            await device.close()
        }
    }
}
