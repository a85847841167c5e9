import ElementalWire
import Foundation
import NIOCore
import Support
import TestSupport
import Testing

@testable import Elemental

/// Values that carry the time at which they were measured, over sockets and as frames.
struct TimedValueTests {
    private enum Robot {
        static let pose = Element<Float>(1, "Pose").withTimes
        static let motion = Element<Float>(2, "Motion", transport: .udp).withTimes
        static let level = Element<Float>(3, "Level", latest: true).withTimes
        static let picture = Element<Data>(4, "Picture").withTimes
        static let plain = Element<Float>(5, "Plain")
        static let frame = Element<Data>(6, "Frame", latest: true).withTimes
        static let all: ElementCatalogue = [pose, motion, level, picture, plain, frame]
    }

    private static func minutesAgo(_ minutes: Int64) -> MeasurementTime {
        MeasurementTime(microseconds: MeasurementTime.now.microseconds - minutes * 60_000_000)
    }

    /// Whether a received time can be the true one.
    private static func isTrue(_ received: ReceivedTime?, _ time: MeasurementTime) -> Bool {
        guard let received else { return false }
        let difference = Duration.microseconds(received.time.microseconds - time.microseconds)
        // Both ends round to microseconds.
        return max(difference, .zero - difference) <= received.error + .microseconds(2)
    }

    /// A pair whose ends know each other's clock.
    private func withClocks(
        over kind: ConnectionKind = .plain,
        _ body: (ElementalService, ElementalDevice, ElementalDevice) async throws -> Void
    ) async throws {
        try await withPair(Robot.all, client: Robot.all, over: kind) { service, device in
            try await eventually("the clocks") { device.clock != nil && service.devices.first?.clock != nil }
            try await body(service, device, try #require(service.devices.first))
        }
    }

    @Test("both ways, over TCP and UDP, a value arrives with its time", arguments: ConnectionKind.allCases)
    func bothWays(kind: ConnectionKind) async throws {
        try await withClocks(over: kind) { service, device, client in
            for (number, element) in [Robot.pose, Robot.motion, Robot.level].enumerated() {
                let time = Self.minutesAgo(Int64(number + 1))
                let (toClient, toService) = (Received(), Received())
                device.onTimedValue(of: element) { value, time, _ in toClient.add(value, time) }
                service.onTimedValue(of: element) { value, time, _ in toService.add(value, time) }
                try await device.ping()
                _ = try service.send(5, to: element, at: time)
                try device.send(7, to: element, at: time)
                let (down, up) = (try await toClient.first, try await toService.first)
                #expect(down.value == 5 && Self.isTrue(down.time, time))
                #expect(up.value == 7 && Self.isTrue(up.time, time))
                #expect(Self.isTrue(device.time(of: element), time) && Self.isTrue(client.time(of: element), time))
            }
        }
    }

    @Test("without a time a value has that of sending")
    func sending() async throws {
        try await withClocks { service, device, _ in
            let before = MeasurementTime.now
            _ = try service.send(1, to: Robot.pose)
            _ = try service.send(.float(2), to: Robot.motion.definition)
            let after = MeasurementTime.now
            for element in [Robot.pose, Robot.motion] {
                try await eventually("the value") { device.value(of: element) != nil }
                let received = try #require(device.time(of: element))
                #expect(Self.isTrue(received, before) || before < received.time)
                #expect(Self.isTrue(received, after) || received.time < after)
            }
        }
    }

    @Test("a value in pieces has its time, and one behind it its own")
    func pieces() async throws {
        try await withClocks { service, device, _ in
            let pictures = Received()
            device.onValue(of: Robot.picture) { (value: Data, device: ElementalDevice) in
                pictures.add(Float(value.count), device.time(of: Robot.picture))
            }
            try await device.ping()
            // The longest that goes whole, one byte more, and what follows while pieces are under way.
            let counts = [1_000_000, 3, 0, 128 * 1024 - 9, 128 * 1024 - 8, 128 * 1024, 128 * 1024 + 1]
            for (number, count) in counts.enumerated() {
                _ = try service.send(Data(count: count), to: Robot.picture, at: Self.minutesAgo(Int64(number)))
            }
            let received = try await pictures.all(counts.count)
            #expect(received.map(\.value) == counts.map(Float.init))
            for (number, each) in received.enumerated() {
                let minutes = (MeasurementTime.now.microseconds - (each.time?.time.microseconds ?? 0)) / 60_000_000
                #expect(minutes == number)
            }
        }
    }

    @Test("a value is whole and has its time, however near to the length from which on it comes in pieces")
    func lengths() async throws {
        try await withClocks { service, device, client in
            let whole = 128 * 1024
            for (number, count) in [whole - 9, whole - 8, whole, whole + 1, 3 * whole].enumerated() {
                let time = Self.minutesAgo(Int64(number + 1))
                let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) })
                for element in [Robot.frame, Robot.picture] {
                    _ = try service.send(data, to: element, at: time)
                    try device.send(data, to: element, at: time)
                    for end in [device, client] {
                        try await eventually("\(count) bytes") { end.value(of: element)?.count == count }
                        #expect(end.value(of: element) == data)
                        #expect(Self.isTrue(end.time(of: element), time), "\(count) bytes")
                    }
                }
            }
        }
    }

    @Test("a long newest value goes without its time to a peer that takes no pieces")
    func withoutPieces() throws {
        let service = EmbeddedService(elements: Robot.all)
        let peer = try service.connect()
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: [.timedValues]).wireBytes))
        _ = try peer.heard()
        let data = Data(count: 128 * 1024 + 1)
        _ = try service.service.send(data, to: Robot.frame)
        service.wait(0)
        #expect(try peer.heard() == frame(6, Array(data)))
    }

    @Test("a datagram that is longer than allowed is counted, and ends nothing")
    func longDatagram() throws {
        let service = EmbeddedService(elements: Robot.all) { $0.limits.maximumValueByteCount = 64 }
        let peer = try service.connect()
        let identifier = try #require(try peer.heard().last)
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: [.timedValues]).wireBytes))
        let value = Self.timed(4, 5, Array(repeating: 1, count: 65))
        try service.receive([[0xEF, UInt8(value.count), 0, 0, 0, identifier] + value], from: "192.0.2.1")
        #expect(peer.isOpen)
        #expect(try #require(service.service.devices.first).statistics.messagesMalformed == 1)
    }

    @Test("who connects later gets the newest value with its time")
    func greeting() async throws {
        try await withService(Robot.all) { service, port in
            let time = Self.minutesAgo(90)
            _ = try service.send(4, to: Robot.pose, at: time)
            _ = try service.send(Data(count: 200_000), to: Robot.picture, at: time)
            let device = try await connect(port, elements: Robot.all)
            try await eventually("the values and the clock") {
                device.value(of: Robot.pose) == 4 && device.value(of: Robot.picture)?.count == 200_000
                    && device.clock != nil
            }
            #expect(Self.isTrue(device.time(of: Robot.pose), time))
            #expect(Self.isTrue(device.time(of: Robot.picture), time))
            await device.close()
        }
    }

    @Test("a stream has each value with its time")
    func stream() async throws {
        try await withClocks { service, device, _ in
            let poses = device.timedValues(of: Robot.pose)
            let times = (1...3).map { Self.minutesAgo(Int64($0)) }
            for (number, time) in times.enumerated() { _ = try service.send(Float(number), to: Robot.pose, at: time) }
            var iterator = poses.makeAsyncIterator()
            for (number, time) in times.enumerated() {
                let pose = try #require(await iterator.next())
                #expect(pose.value == Float(number) && Self.isTrue(pose.time, time))
            }
        }
    }

    @Test("a relayed value keeps the time at which it was measured", arguments: [false, true])
    func relay(isLate: Bool) async throws {
        try await withClocks { service, device, _ in
            if isLate {
                service.relay(Robot.pose) { value, _ async in value }
            } else {
                service.relay(Robot.pose)
            }
            let time = Self.minutesAgo(7)
            try device.send(3, to: Robot.pose, at: time)
            try await eventually("the value") { device.value(of: Robot.pose) == 3 }
            let received = try #require(device.time(of: Robot.pose))
            // By two clocks, each as wrong as it may be.
            #expect(abs(received.time.microseconds - time.microseconds) < 60_000_000)
        }
    }

    @Test("a handler that is added meanwhile gets the newest value with the time of that")
    func handlerAddedMeanwhile() throws {
        let service = EmbeddedService(elements: Robot.all)
        let peer = try service.connect()
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: [.timedValues]).wireBytes))
        let device = try #require(service.service.devices.first)
        let times = Locked<[Int64?]>([])
        @Sendable func note(_ device: ElementalDevice) {
            times.withLock { $0.append(device.state.withLock { $0.inbound.times[1] }) }
        }
        peer.say(frame(-17, Self.timed(1, 5, [0, 0, 0x80, 0x3F])))
        // Another thread adds one: that is put off until the next value comes.
        let token = device.handlers.reserve()
        device.handlers.postpone {
            if device.handlers.add(token, for: 1, { _, device in note(device) }) { note(device) }
        }
        peer.say(frame(-17, Self.timed(1, 6, [0, 0, 0, 0x40])))
        #expect(times.withLock { $0 } == [5, 6])
    }

    @Test("a time that was told ahead belongs to the next value, whether that is taken or not")
    func aheadOfARejectedValue() throws {
        let service = EmbeddedService(elements: Robot.all)
        let peer = try service.connect()
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: [.timedValues]).wireBytes))
        let device = try #require(service.service.devices.first)
        let ahead = frame(-17, TimedValue.ahead(id: 1, time: 5))
        peer.say(ahead + frame(1, [0, 0, 0, 0x40]))
        #expect(device.state.withLock { $0.inbound.times[1] } == 5)
        // Too short, and empty.
        for value in [[0, 0], []] as [[UInt8]] {
            peer.say(ahead + frame(1, value) + frame(1, [0, 0, 0, 0x40]))
            #expect(device.state.withLock { $0.inbound.times[1] } == nil)
        }
    }

    @Test("a value sent as another, untimed element has no time for those who come later")
    func untimedDefinition() throws {
        let service = EmbeddedService(elements: Robot.all)
        _ = try service.service.send(1, to: Robot.pose, at: MeasurementTime(microseconds: 258))
        _ = try service.service.send(1, to: Element<Float>(1, "Pose"))
        let peer = try service.connect()
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: [.timedValues]).wireBytes))
        #expect(try peer.heard().suffix(9) == frame(1, [0, 0, 0x80, 0x3F])[...])
    }

    @Test("the limit for values holds for one in a frame of the system")
    func limit() throws {
        let service = EmbeddedService(elements: Robot.all) { $0.limits.maximumValueByteCount = 64 }
        for (count, isOpen) in [(64, true), (65, false)] {
            let peer = try service.connect()
            peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: [.timedValues]).wireBytes))
            peer.say(frame(-17, Self.timed(4, 5, Array(repeating: 1, count: count))))
            #expect(peer.isOpen == isOpen)
        }
    }

    @Test("the newest value that is kept while the connection is away keeps its time", arguments: [true, false])
    func kept(knowsTimes: Bool) throws {
        var machine = Outbound<Int>(limit: 1_000_000, readyByteCount: 1000)
        machine.peer.timedValues = true
        machine.open(1, hasHello: true)
        machine.close(DisconnectReason(.closedByPeer), willReconnect: true)
        machine.discardQueues(unwritten: 0)
        let value: [UInt8] = [0, 0, 0x80, 0x3F]
        for time in [7, 8] as [Int64] {
            let bytes = value.withUnsafeBytes { TimedValue.bytes(3, MeasurementTime(microseconds: time), $0) }
            #expect(try machine.append(Robot.level, timed: bytes) == nil)
        }
        #expect(machine.counts.messagesReplaced == 1 && machine.messagesUnsent == 1)
        // The hello of the new connection comes first, or there is none.
        machine.peer.timedValues = knowsTimes
        machine.open(2, hasHello: knowsTimes)
        guard case .write(let segment, _) = machine.nextStreamStep(written: 0) else {
            Issue.record("nothing is sent")
            return
        }
        let sent = Array(segment.buffer.readableBytesView)
        #expect(sent == (knowsTimes ? frame(-17, Self.timed(3, 8, value)) : frame(3, value)))
    }

    @Test("a client that refuses to acknowledge does not make refusals grow the queue")
    func refusals() throws {
        let service = EmbeddedService(elements: Robot.all) { $0.limits.maximumQueueByteCount = 1_000_000 }
        let peer = try service.connect()
        let hello = Hello(features: [.refusals, .pieces, .timedValues])
        _ = try service.service.send(Data(count: 600_000), to: Robot.picture)
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, hello.wireBytes))
        let device = try #require(service.service.devices.first)
        for _ in 0..<20 {
            service.service.refuse(Robot.picture.definition, from: device, ValueRefusal("no"))
            service.wait(0)
        }
        #expect(device.outbound.withLock { $0.pieces?.byteCount ?? 0 } <= 1_000_000)
        #expect(device.statistics.messagesUnsent <= 2)
    }

    // MARK: Frames

    private static func timed(_ id: UInt8, _ time: Int64, _ value: [UInt8]) -> [UInt8] {
        [id] + withUnsafeBytes(of: time.littleEndian) { Array($0) } + value
    }

    @Test("a peer that does not know times gets the plain value, byte for byte", arguments: [false, true])
    func older(knowsTimes: Bool) throws {
        let service = EmbeddedService(elements: Robot.all)
        let peer = try service.connect()
        let features: Hello.Features = knowsTimes ? [.ping, .timedValues] : [.ping]
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: features).wireBytes))
        _ = try peer.heard()
        _ = try service.service.send(1, to: Robot.pose, at: MeasurementTime(microseconds: 258))
        service.wait(0)
        let value: [UInt8] = [0, 0, 0x80, 0x3F]
        #expect(try peer.heard() == (knowsTimes ? frame(-17, Self.timed(1, 258, value)) : frame(1, value)))
        _ = try service.service.send(1, to: Robot.plain)
        service.wait(0)
        #expect(try peer.heard() == frame(5, value))
    }

    @Test("what is no timed value is counted and has no effect")
    func malformed() throws {
        let service = EmbeddedService(elements: Robot.all)
        let peer = try service.connect()
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: [.ping, .timedValues]).wireBytes))
        let device = try #require(service.service.devices.first)
        peer.say(frame(-17, Array(repeating: 1, count: 8)))
        // The value ahead of which a time comes does not follow here.
        peer.say(frame(-17, Self.timed(0x81, 5, [0])))
        // A wrong length for the element.
        peer.say(frame(-17, Self.timed(1, 5, [0, 0, 0])))
        #expect(device.statistics.messagesMalformed == 3)
        peer.say(frame(-17, Self.timed(77, 5, [0])))
        #expect(device.statistics.messagesUnknown == 1)
        #expect(device.statistics.messagesReceived == 0 && device.newest.ids.isEmpty)
        peer.say(frame(-17, Self.timed(1, 5, [0, 0, 0x80, 0x3F])))
        #expect(device.statistics.messagesReceived == 1 && device.value(of: Robot.pose) == 1)
        // A plain value of the element has no time, not that of the one before.
        #expect(device.state.withLock { $0.inbound.times } == [1: 5])
        peer.say(frame(1, [0, 0, 0, 0x40]))
        #expect(device.state.withLock { $0.inbound.times }.isEmpty)
    }

    @Test(
        "a time before 1970 or after 2100 is dropped and counted, the value is not",
        arguments: [0, 1] + [Int64.min, .max])
    func implausible(edge: Int64) async throws {
        try await withClocks { service, device, client in
            let now = MeasurementTime.now.microseconds
            let since1970 = Int64(Date.now.timeIntervalSince1970 * 1e6)
            let time =
                switch edge {
                case 0: now - since1970 - 60_000_000
                case 1: now - since1970 + 4_102_444_800_000_000 + 60_000_000
                default: edge
                }
            try device.send(9, to: Robot.pose, at: MeasurementTime(microseconds: time))
            try await eventually("the value") { client.value(of: Robot.pose) == 9 }
            #expect(client.time(of: Robot.pose) == nil)
            #expect(client.statistics.timesRejected == 1)
        }
    }
}

/// Values and their times, as they arrived.
private final class Received: Sendable {
    private let values = Locked<[(value: Float, time: ReceivedTime?)]>([])

    func add(_ value: Float, _ time: ReceivedTime?) { values.withLock { $0.append((value, time)) } }

    var first: (value: Float, time: ReceivedTime?) {
        get async throws { try await all(1)[0] }
    }

    func all(_ count: Int) async throws -> [(value: Float, time: ReceivedTime?)] {
        try await eventually("\(count) values") { values.withLock { $0.count } >= count }
        return values.withLock { $0 }
    }
}
