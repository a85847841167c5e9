import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// What clients of each role may set.
struct RoleWritingTests {
    private static func gather(_ house: RoleService) -> Transcript<Int8> {
        let received = Transcript<Int8>()
        house.service.onAnyValue { element, _, _ in received.add(element.id) }
        return received
    }

    /// A program that knows nothing of roles sets everything, over both transports.
    @Test(arguments: [
        (SecurityPolicy.pairedToControl, Role.plain, [] as [Int8], [1, 2, 4, 5, 11] as [Int8]),
        (.pairedToControl, .observe, [5], [1, 2, 4, 11]),
        (.pairedToControl, .control, [1, 2, 3, 5, 6, 7, 8, 9, 11], [4]),
        (.paired, .observe, [5], [1, 2, 4, 11]),
        (.paired, .admin, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], []),
        (.open, .plain, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], []),
    ])
    func valuesBelowTheRoleAreRejectedAndAnswered(
        _ policy: SecurityPolicy, _ role: Role, _ taken: [Int8], _ refused: [Int8]
    ) async throws {
        try await RoleService.with(policy) { house in
            let received = Self.gather(house)
            let progress = Transcript<Int8>()
            house.service.onProgress { transfer, _ in progress.add(transfer.element.id) }
            let (peer, udpIdentifier) = try await house.connectRaw(role)
            let datagrams = try RawSocket.datagram()
            try peer.write(
                frame(-2, Array("raw".utf8)) + frame(-4, Hello(features: [.ping, .refusals, .pieces]).wireBytes))
            let hello = try await peer.readFrame()
            try #require(hello.id == -4)
            let device = try house.device("raw")
            func sent(_ count: Int) async throws {
                try await eventually("\(count), \(device.statistics)") {
                    device.statistics.messagesReceived + device.statistics.messagesRejected == count
                }
            }
            var count = 0
            for element in House.all {
                let size = element.type.fixedByteCount ?? 200_000
                let value = [UInt8](repeating: 0, count: size)
                if element.transport == .udp {
                    try datagrams.send(datagram: message(element.id, udpIdentifier, value), to: house.port)
                } else {
                    try peer.write(frame(element.id, value))
                }
                count += 1
                try await sent(count)
                // Nothing is kept of a value that will be rejected, however long it is.
                #expect(device.statistics.messagesUnknown == 0)
            }
            #expect(received.all == taken)
            #expect(Set(progress.all).isSubset(of: taken))
            #expect(device.statistics.messagesRejected == House.all.count - taken.count)
            try peer.write(frame(-6, [1]))
            var answers: [[UInt8]] = []
            while true {
                let answer = try await peer.readFrame()
                if answer.id == -7 { break }
                if answer.id == -11 { answers.append(answer.value) } else { #expect(answer.id == -9) }
            }
            #expect(answers == refused.map { [UInt8($0), 4] })
        }
    }

    @Test
    func aRefusalIsFollowedByTheCurrentValue() async throws {
        try await RoleService.with(.pairedToControl) { house in
            house.service.relay(House.light)
            try house.service.send(0.25, to: House.light)
            let plain = try await house.connect(.plain, elements: House.permissive)
            try await eventually { plain.value(of: House.light) == 0.25 }
            let refusals = plain.gatherRefusals()
            let values = Transcript<Float>()
            plain.onValue(of: House.light) { values.add($0) }
            try plain.send(0.75, to: House.light)
            try await plain.ping()
            #expect(refusals.all.map(\.id) == [1] && refusals.all.map(\.refusal.reason) == [.notAuthorised])
            #expect(values.all == [0.25, 0.25])
            #expect(house.service.value(of: House.light) == 0.25)
            await plain.close()
        }
    }

    /// An element that takes no values from anyone is not a matter of roles, and neither is a wrong value.
    @Test
    func otherReasonsStayWhatTheyAre() async throws {
        let reading = Element<Float>(20, "Reading", access: .read)
        try await RoleService.with(.pairedToControl, elements: [House.light, reading]) { house in
            let elements: ElementCatalogue = [Element<Float>(1, "Light"), Element<Float>(20, "Reading")]
            let controller = try await house.connect(.control, elements: elements)
            let plain = try await house.connect(.plain, elements: elements)
            for (device, first) in [(controller, ValueRefusal.Reason.outOfRange), (plain, .notAuthorised)] {
                let refusals = device.gatherRefusals()
                try device.send(2, to: Element<Float>(1, "Light"))
                try device.send(2, to: Element<Float>(20, "Reading"))
                try await device.ping()
                #expect(refusals.all.map(\.refusal.reason) == [first, .notAllowed])
                await device.close()
            }
        }
    }

    /// A client that knows its elements from the service does not even send what it may not set.
    @Test
    func aClientThatLearnsTheElementsSeesThemAsReadOnly() async throws {
        try await RoleService.with(.pairedToControl) { house in
            let plain = try await house.connect(.plain)
            let light = try #require(plain.knownElements["Light"])
            #expect(await errorCode { try plain.send(.float(0.5), to: light) } == .notAllowed)
            await plain.close()
            // One with its own definitions sends nothing of elements that are absent.
            let other = try await house.connect(.plain, elements: House.permissive)
            #expect(await errorCode { try other.send("x", to: House.secret) } == .unknownElement)
            await other.close()
        }
    }

    /// A program that refuses a value itself may name an element that the client does not see.
    @Test
    func aRefusalDoesNotTellOfAHiddenElement() async throws {
        try await RoleService.with(.pairedToControl) { house in
            let plain = try await house.connect(.plain, elements: House.permissive)
            let refusals = plain.gatherRefusals()
            try house.service.send("here", to: House.secret)
            let here = try house.device("plain")
            house.service.refuse(House.secret, from: here, ValueRefusal("no"))
            house.service.refuse(House.light, from: here, ValueRefusal("no"))
            try await eventually { refusals.all.count == 1 }
            try await plain.ping()
            #expect(refusals.all.map(\.id) == [1])
            #expect(plain.value(of: House.secret) == nil)
            await plain.close()
        }
    }

    /// A long value in pieces is dropped as it arrives.
    @Test
    func nothingIsKeptOfALongValueBelowTheRole() async throws {
        try await RoleService.with(.pairedToControl, { $0.maximumIncompleteByteCount = 100_000 }) { house in
            let received = Self.gather(house)
            let plain = try await house.connect(.plain, elements: House.permissive)
            let refusals = plain.gatherRefusals()
            for _ in 0..<3 { try await plain.sendWhenReady(Data(count: 2_000_000), to: House.picture) }
            try await eventually { refusals.all.count == 3 }
            #expect(refusals.all.map(\.refusal.reason) == [.notAuthorised, .notAuthorised, .notAuthorised])
            #expect(received.all.isEmpty)
            await plain.close()
        }
    }

    @Test
    func aValueThatComesInPartsIsRefusedToo() async throws {
        try await RoleService.with(.pairedToControl) { house in
            let (peer, _) = try await house.connectRaw(.plain)
            try peer.write(frame(-2, Array("raw".utf8)) + frame(-4, Hello(features: [.refusals]).wireBytes))
            #expect(try await peer.readFrame().id == -4)
            let device = try house.device("raw")
            for byte in frame(1, [0, 0, 0, 0]) {
                let count = device.statistics.bytesReceived
                try peer.write([byte])
                try await eventually { device.statistics.bytesReceived > count }
            }
            let answer = try await peer.readFrame()
            #expect(answer.id == -11 && answer.value == [1, 4])
            #expect(device.statistics.messagesRejected == 1 && device.statistics.messagesMalformed == 0)
        }
    }

    @Test
    func readersTolerateUnknownReasons() throws {
        for reason in UInt8(0)...255 {
            let read = [3, reason].withUnsafeBytes { ValueRefusal.read($0) }
            #expect(read?.refusal.reason == (ValueRefusal.Reason(rawValue: reason) ?? .refused))
        }
        #expect(ValueRefusal.Reason.notAuthorised.rawValue == 4)
    }
}
