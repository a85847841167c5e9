import NIOCore
import Testing

@testable import MQTT

/// The session, its packet identifiers and its keep-alive, without sockets and in a time of their own.
struct SessionMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let accepted = IncomingPacket.connAck(isSessionPresent: false, returnCode: 0)

    private func machine(inFlight: Int = 10, isConnected: Bool = true) throws -> SessionMachine {
        var machine = SessionMachine(keepAlive: .seconds(10), maximumInFlight: inFlight, now: Self.start)
        if isConnected { try expect(machine.receive(Self.accepted, at: Self.start), .connected) }
        return machine
    }

    // MARK: - Connecting

    @Test
    func whatTheBrokerMeans() throws {
        let codes: [(UInt8, MQTTError.Code, String)] = [
            (1, .unacceptableVersion, "3.1.1"), (2, .identifierRejected, "identifier"),
            (3, .serverUnavailable, "temporarily unavailable"), (4, .badCredentials, "user name or password"),
            (5, .notAuthorised, "allow_anonymous"), (6, .refused, "unknown code 6"), (255, .refused, "255"),
        ]
        for (code, expected, words) in codes {
            var machine = try machine(isConnected: false)
            let answer = IncomingPacket.connAck(isSessionPresent: false, returnCode: code)
            let error = refusal { _ = try machine.receive(answer, at: Self.start) }
            #expect(error?.code == expected)
            #expect(error?.message.contains(words) == true)
        }
    }

    @Test
    func violations() throws {
        let message = IncomingPacket.publish(MQTTMessage(topic: "t", payload: ByteBuffer()), identifier: 0)
        for packet in [message, .pubAck(1), .subAck(1, codes: [0]), .unsubAck(1), .pingResp] {
            var machine = try machine(isConnected: false)
            let error = refusal { _ = try machine.receive(packet, at: Self.start) }
            #expect(error?.code == .protocolViolation)
            #expect(error?.message.contains("\(packet.kind.name) before CONNACK") == true)
        }
        var machine = try machine()
        let second = refusal { _ = try machine.receive(Self.accepted, at: Self.start) }
        #expect(second?.message.contains("second CONNACK") == true)
        var other = try self.machine(isConnected: false)
        let session = IncomingPacket.connAck(isSessionPresent: true, returnCode: 0)
        expect(refusal { _ = try other.receive(session, at: Self.start) }?.code, .protocolViolation)
    }

    // MARK: - Acknowledgements

    @Test
    func theWindow() throws {
        var machine = try machine(inFlight: 3)
        expect([machine.publish(), machine.publish(), machine.publish()], [1, 2, 3])
        expect(machine.publish(), nil)
        #expect(!machine.hasRoom && machine.inFlight == 3)
        try expect(machine.receive(.pubAck(2), at: Self.start), .acknowledged(2))
        // The one that is free again is not used again at once.
        expect(machine.publish(), 4)
        expect(machine.publish(), nil)
    }

    @Test
    func acknowledgementsOfNothing() throws {
        var machine = try machine()
        expect(machine.publish(), 1)
        let subscription = machine.request(codes: 1)
        #expect(subscription == 2)
        for packet in [
            IncomingPacket.pubAck(2), .pubAck(9), .pubAck(65535), .subAck(1, codes: [0]), .subAck(7, codes: [0, 0]),
            .unsubAck(1), .unsubAck(2), .unsubAck(8),
        ] {
            try expect(machine.receive(packet, at: Self.start), .unexpected)
        }
        try expect(machine.receive(.pubAck(1), at: Self.start), .acknowledged(1))
        try expect(machine.receive(.pubAck(1), at: Self.start), .unexpected)
        try expect(machine.receive(.subAck(2, codes: [1]), at: Self.start), .answered(2, codes: [1]))
        #expect(machine.inFlight == 0)
    }

    @Test
    func subscriptions() throws {
        var machine = try machine(inFlight: 1)
        expect(machine.request(codes: 2), 1)
        expect(machine.request(codes: 0), 2)
        #expect(machine.inFlight == 0 && machine.hasRoom, "they do not count as messages")
        try expect(machine.receive(.unsubAck(2), at: Self.start), .answered(2, codes: []))
        for codes in [[0], [0, 0, 0], [0, 2]] as [[UInt8]] {
            let error = refusal { _ = try machine.receive(.subAck(1, codes: codes), at: Self.start) }
            #expect(error?.code == .protocolViolation, "\(codes)")
        }
        for _ in 0..<SessionMachine.maximumRequests - 1 { expect(machine.request(codes: 0) != nil) }
        expect(machine.request(codes: 1), nil)
    }

    @Test
    func identifiersWrapAndSkipThoseInUse() {
        var window = FlightWindow()
        expect(window.take(), 1)
        expect(window.take(), 2)
        for expected in UInt16(3)...65535 {
            expect(window.take(), expected)
            window.release(expected)
        }
        // 1 and 2 were never acknowledged; 0 is none.
        expect(window.take(), 3)
        #expect(window.count == 3)
        expect(window.release(2))
        expect(!window.release(2))
        expect(!window.release(0))
        var full = FlightWindow()
        for _ in 0..<65535 { _ = full.take() }
        expect(full.take(), nil)
        full.release(7)
        expect(full.take(), 7)
    }

    @Test
    func nothingIsOfInterestAfterDisconnect() throws {
        var machine = try machine()
        machine.disconnect()
        try expect(machine.receive(Self.accepted, at: Self.start), .none)
        try expect(
            machine.receive(
                .publish(MQTTMessage(topic: "t", payload: ByteBuffer()), identifier: 1), at: Self.start), .none)
    }

    // MARK: - Keep-alive

    private func at(_ seconds: Double) -> NIODeadline { Self.start + .nanoseconds(Int64(seconds * 1e9)) }

    @Test
    func aPingIsDueWhenNothingWasSent() {
        var alive = KeepAlive(interval: .seconds(10), now: Self.start)
        expect(alive.step(at: at(0), queued: 0, written: 0), .wait(until: at(10)))
        alive.sent(at: at(4), inFlight: 0)
        alive.received(at: at(6))
        expect(alive.step(at: at(10), queued: 5, written: 5), .wait(until: at(14)))
        expect(alive.step(at: at(14), queued: 5, written: 5), .ping)
        alive.sent(at: at(14), inFlight: 0)
        alive.pinged(at: at(14), queued: 7, written: 7)
        expect(alive.step(at: at(14), queued: 7, written: 7), .wait(until: at(19)))
        alive.received(at: at(15))
        expect(alive.step(at: at(19), queued: 7, written: 7), .wait(until: at(24)))
    }

    /// One that only sends would otherwise never notice that nobody is there.
    @Test
    func aPingIsDueWhenNothingWasReceived() {
        var alive = KeepAlive(interval: .seconds(10), now: Self.start)
        for second in 1...9 { alive.sent(at: at(Double(second)), inFlight: 0) }
        expect(alive.step(at: at(10), queued: 100, written: 100), .ping)
        alive.pinged(at: at(10), queued: 102, written: 102)
        // What is sent afterwards is no sign of the broker.
        alive.sent(at: at(14), inFlight: 0)
        expect(alive.step(at: at(14.9), queued: 150, written: 150), .wait(until: at(15)))
        expect(alive.step(at: at(15), queued: 150, written: 150), .timedOut, "after 1.5 keep-alives")
    }

    @Test
    func aLargeMessageUnderWayIsNoDeadBroker() {
        var alive = KeepAlive(interval: .seconds(10), now: Self.start)
        expect(alive.step(at: at(10), queued: 1000, written: 100), .ping)
        alive.pinged(at: at(10), queued: 1002, written: 100)
        for second in stride(from: 15, to: 60, by: 5) {
            let written = 100 + second
            let step = alive.step(at: at(Double(second)), queued: 1002, written: written)
            #expect(step == .wait(until: at(Double(second + 5))))
        }
        // All of it is out, and the ping with it: now the broker's time runs.
        expect(alive.step(at: at(60), queued: 1002, written: 1002), .wait(until: at(65)))
        expect(alive.step(at: at(65), queued: 1010, written: 1010), .timedOut)
    }

    @Test
    func aDeadBrokerBehindAFullSocket() {
        var alive = KeepAlive(interval: .seconds(10), now: Self.start)
        alive.pinged(at: at(10), queued: 1002, written: 100)
        expect(alive.step(at: at(15), queued: 1002, written: 500), .wait(until: at(20)))
        expect(alive.step(at: at(20), queued: 1002, written: 500), .timedOut)
    }

    @Test
    func aBrokerThatAcknowledgesNothing() {
        var alive = KeepAlive(interval: .seconds(10), now: Self.start)
        func live(until end: Int, from start: Int, written: Int) -> KeepAlive.Step {
            var step = KeepAlive.Step.ping
            for second in start...end {
                alive.received(at: at(Double(second)))
                alive.sent(at: at(Double(second)), inFlight: 1)
                step = alive.step(at: at(Double(second)), queued: written, written: written)
                if step == .unacknowledged { return step }
            }
            return step
        }
        expect(live(until: 20, from: 1, written: 10) != .unacknowledged)
        alive.receivedAcknowledgement(at: at(20), inFlight: 1)
        expect(live(until: 39, from: 21, written: 10) != .unacknowledged)
        expect(live(until: 40, from: 40, written: 10), .unacknowledged)
        alive.receivedAcknowledgement(at: at(40), inFlight: 0)
        expect(alive.step(at: at(41), queued: 10, written: 10) != .unacknowledged)
        // A message that takes long on its way.
        alive.sent(at: at(41), inFlight: 1)
        for second in 42...80 {
            alive.received(at: at(Double(second)))
            alive.sent(at: at(Double(second)), inFlight: 1)
            let step = alive.step(at: at(Double(second)), queued: 10_000, written: second)
            #expect(step != .unacknowledged)
        }
    }
}
