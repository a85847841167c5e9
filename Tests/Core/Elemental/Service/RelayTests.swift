import ElementalWire
import Synchronization
import TestSupport
import Testing

@testable import Elemental

/// Relayed and refused values.
struct RelayTests {
    @Test
    func whatOneClientSetsGoesToAll() async throws {
        try await withPair { service, one in
            service.relay(Lamp.brightness)
            let other = try await connect(try #require(service.port), as: "other")
            let (seenByOne, seenByOther) = (Transcript<Float>(), Transcript<Float>())
            one.onValue(of: Lamp.brightness) { seenByOne.add($0) }
            other.onValue(of: Lamp.brightness) { seenByOther.add($0) }
            for value: Float in [0.25, 0.5, 0.75] { try one.send(value, to: Lamp.brightness) }
            try await seenByOther.wait(for: 3)
            try await seenByOne.wait(for: 3)
            #expect(seenByOther.all == [0.25, 0.5, 0.75])
            #expect(seenByOne.all == [0.25, 0.5, 0.75])
            #expect(service.value(of: Lamp.brightness) == 0.75)
            let late = try await connect(try #require(service.port), as: "late")
            try await eventually { late.value(of: Lamp.brightness) == 0.75 }
            await late.close()
            await other.close()
        }
    }

    @Test
    func theServiceMayChangeOrRefuseAValue() async throws {
        try await withPair { service, device in
            try service.send(0.25, to: Lamp.brightness)
            service.relay(Lamp.brightness) { value, _ in
                if value > 0.9 { throw ValueRefusal("the lamp would burn out") }
                return min(value, 0.5)
            }
            try await eventually { device.value(of: Lamp.brightness) == 0.25 }
            let refusals = device.gatherRefusals()
            let values = Transcript<Float>()
            device.onValue(of: Lamp.brightness) { values.add($0) }
            try device.send(0.75, to: Lamp.brightness)
            try device.send(1, to: Lamp.brightness)
            // All of it comes before the answer to a ping.
            try await device.ping()
            // The newest value of before, the changed one, and the current one behind the refusal.
            #expect(values.all == [0.25, 0.5, 0.5])
            #expect(refusals.all.count == 1)
            #expect(refusals.all.first?.id == Lamp.brightness.id)
            #expect(refusals.all.first?.refusal.reason == .refused)
            #expect(refusals.all.first?.refusal.message == "the lamp would burn out")
            #expect(service.value(of: Lamp.brightness) == 0.5)
        }
    }

    /// One value is decided at a time, and of those that come meanwhile the newest counts.
    @Test
    func whatIsDecidedLaterIsSentToAllOrRefusedThen() async throws {
        try await withPair { service, device in
            try service.send(0.25, to: Lamp.brightness)
            let decided = Transcript<Float>()
            let (permissions, permit) = AsyncStream.makeStream(of: Void.self)
            service.relay(Lamp.brightness) { value, _ in
                decided.add(value)
                for await _ in permissions { break }
                if value > 0.9 { throw ValueRefusal("the lamp would burn out") }
                return value / 2
            }
            let refusals = device.gatherRefusals()
            try device.send(0.5, to: Lamp.brightness)
            try await decided.wait(for: 1)
            for value: Float in [0.6, 0.7, 1] { try device.send(value, to: Lamp.brightness) }
            // The connection goes on meanwhile.
            try await device.ping(over: .udp)
            #expect(decided.all == [0.5])
            #expect(service.value(of: Lamp.brightness) == 0.25)
            permit.yield()
            try await decided.wait(for: 2)
            #expect(decided.all == [0.5, 1])
            #expect(service.value(of: Lamp.brightness) == 0.25)
            #expect(refusals.all.isEmpty)
            permit.yield()
            try await eventually { refusals.all.map(\.refusal.message) == ["the lamp would burn out"] }
            try await eventually { device.value(of: Lamp.brightness) == 0.25 }
            // It decides again after that.
            try device.send(0.8, to: Lamp.brightness)
            permit.yield()
            try await eventually { device.value(of: Lamp.brightness) == 0.4 }
            #expect(decided.all == [0.5, 1, 0.8])
        }
    }

    /// A client that pings behind a value knows with the answer what became of it.
    @Test
    func aPingWaitsForTheDecisionsBeforeIt() async throws {
        try await withPair { service, device in
            let decided = Transcript<ElementValue>()
            let (permissions, permit) = AsyncStream.makeStream(of: Void.self)
            service.relay(Lamp.brightness.definition) { value, _ in
                decided.add(value)
                for await _ in permissions { break }
                throw ValueRefusal("the lamp is locked")
            }
            let refusals = device.gatherRefusals()
            try device.send(0.5, to: Lamp.brightness)
            try await decided.wait(for: 1)
            try device.send(0.6, to: Lamp.brightness)
            try await withThrowingTaskGroup(of: Duration.self) { pings in
                for _ in 0...UndecidedValues.maximumPingCount {
                    pings.addTask { try await device.ping(timeout: Patience.wait) }
                }
                // A peer that pings without end gets answers rather than memory.
                _ = try await pings.next()
                #expect(refusals.all.isEmpty)
                for _ in 0..<2 { permit.yield() }
                _ = try await pings.next()
                #expect(refusals.all.count == 2)
                try await pings.waitForAll()
            }
            #expect(decided.all == [.float(0.5), .float(0.6)])
        }
    }

    /// A client that knows other bounds, or none, than the service.
    @Test
    func aValueOutOfRangeOrNotAllowedIsAnsweredWithTheReasonAndTheCurrentValue() async throws {
        let brightness = Element<Float>(1, "Brightness")
        let reading = Element<Double>(6, "Reading")
        try await withPair(client: [brightness, reading]) { service, device in
            try service.send(0.25, to: Lamp.brightness)
            try service.send(20, to: Lamp.reading)
            try await eventually { device.value(of: reading) == 20 }
            let refusals = device.gatherRefusals()
            let values = Transcript<Float>()
            device.onValue(of: brightness) { values.add($0) }
            try device.send(2, to: brightness)
            try device.send(30, to: reading)
            try await device.ping()
            #expect(refusals.all.map(\.refusal.reason) == [.outOfRange, .notAllowed])
            #expect(values.all == [0.25, 0.25])
            #expect(service.devices.first?.statistics.messagesRejected == 2)
        }
    }

    /// It asks for no answers that it does not read: they find no room rather than the service's memory.
    @Test
    func refusalsForAPeerThatDoesNotReadAreBounded() async throws {
        try await withService(Lamp.all, { $0.limits.maximumQueueByteCount = 64 * 1024 }) { service, port in
            let peer = try RawSocket.connect(to: port)
            let hello = Hello(features: [.ping, .refusals]).wireBytes
            try peer.write(frame(-2, Array("mute".utf8)) + frame(-4, hello))
            try await eventually { service.devices.count == 1 }
            let device = try #require(service.devices.first)
            let outOfRange = frame(1, withUnsafeBytes(of: Float(2).bitPattern.littleEndian, Array.init))
            let many = Array(repeating: outOfRange, count: 10_000).flatMap { $0 }
            for _ in 0..<20 { try peer.write(many) }
            try await eventually { device.statistics.messagesRejected == 200_000 }
            #expect(device.outbound.withLock { $0.stream.byteCount } <= 64 * 1024)
            _ = peer
        }
    }
}
