import Elemental
import Support
import TestSupport
import Testing

@testable import ElementalFollowing

/// The values of followed services, for a consumer at its own pace.
@Suite(.backstop)
struct FollowedValueTests {
    private static let key = ServiceKey(service: "robot", name: "Rover")
    private static let other = ServiceKey(service: "robot", name: "Other")

    private static func put(_ number: UInt32, of key: ServiceKey = key, into buffer: ValueBuffer) {
        buffer.take(.value(key, Rover.count.definition, .uint32(number)))
    }

    @Test
    func aSlowConsumerGetsTheNewestOfEachElement() async {
        let buffer = ValueBuffer(.newest, interval: .zero, maximumByteCount: 1)
        for number in 0..<1000 { Self.put(UInt32(number), into: buffer) }
        buffer.take(.value(Self.key, Rover.label.definition, .string("last")))
        #expect(await buffer.next()?.value == .uint32(999))
        #expect(await buffer.next()?.value == .string("last"))
        #expect(buffer.droppedCount == 0)
        buffer.finish()
        #expect(await buffer.next() == nil)
    }

    @Test("of values that wait in their order no more bytes are kept than the limit, over all services")
    func valuesInOrderAreBoundedInBytes() async {
        let limit = 10_000
        let buffer = ValueBuffer(.inOrder, interval: .zero, maximumByteCount: limit)
        for _ in 0..<1000 {
            for key in [Self.key, Self.other] {
                buffer.take(.value(key, Rover.label.definition, .string(String(repeating: "x", count: 100))))
            }
            #expect(buffer.byteCount <= limit)
        }
        #expect(buffer.droppedCount == 1900)
        buffer.finish()
        var count = 0
        while await buffer.next() != nil { count += 1 }
        #expect(count == 100)
        #expect(buffer.byteCount == 0)
    }

    @Test
    func servicesTakeTurns() async {
        let buffer = ValueBuffer(.inOrder, interval: .zero, maximumByteCount: 1 << 20)
        for number in 0..<100 { Self.put(UInt32(number), into: buffer) }
        for number in 0..<2 { Self.put(UInt32(number), of: Self.other, into: buffer) }
        var keys: [ServiceKey] = []
        for _ in 0..<4 { if let value = await buffer.next() { keys.append(value.key) } }
        #expect(keys == [Self.key, Self.other, Self.key, Self.other])
    }

    @Test
    func aServiceThatIsGoneLeavesNothing() async {
        let buffer = ValueBuffer(.inOrder, interval: .zero, maximumByteCount: 1 << 20)
        buffer.take(.value(Self.key, Rover.label.definition, .string("text")))
        Self.put(7, of: Self.other, into: buffer)
        #expect(buffer.serviceCount == 2 && buffer.byteCount > 4)
        buffer.take(.state(Self.key, .gone))
        #expect(buffer.serviceCount == 1)
        #expect(await buffer.next()?.value == .uint32(7))
        #expect(buffer.byteCount == 0)
    }

    @Test
    func aConsumerThatDoesNotReadHoldsUpNobody() async throws {
        let service = try await startService()
        let follower = Follower([service.subject], FollowerOptions(name: "tester"))
        let idle = follower.values(.newest)
        let busy = follower.values(.inOrder)
        let running = Task { try await follower.run() }
        try await carryOut {
            var numbers = busy.makeAsyncIterator()
            try await eventually { service.devices.count == 1 }
            for number in 0..<500 { try service.send(UInt32(number), to: Rover.count) }
            for number in 0..<500 { #expect(await numbers.next()?.value == .uint32(UInt32(number))) }
            var newest = idle.makeAsyncIterator()
            #expect(await newest.next()?.value == .uint32(499))
            #expect(busy.droppedCount == 0)
            let snapshot = try #require(follower.services[service.key])
            #expect(snapshot.catalogue == Rover.all && snapshot.device?.value(of: Rover.count) == 499)
        } finally: {
            running.cancel()
            try await running.value
        }
        var rest = busy.makeAsyncIterator()
        #expect(await rest.next() == nil)
        #expect(follower.services.isEmpty)
        await service.stop()
    }

    @Test
    func aValueThatIsSetHasAnOutcome() async throws {
        let service = try await startService()
        let refused = service.onValue(of: Rover.label) { text, client in
            service.refuse(Rover.label.definition, from: client, ValueRefusal(.refused, "not \(text)"))
        }
        try await follow(service) { key, follower, log in
            #expect("\(await follower.set(.uint32(1), of: "Count", at: Self.key))" == "notConnected")
            try await log.wait(for: "connected", of: key)
            guard case .taken = await follower.set(.uint32(1), of: "Count", at: key) else {
                throw TestSupportError("not taken")
            }
            #expect(service.value(of: Rover.count) == 1 || service.devices.first?.value(of: Rover.count) == 1)
            for (value, element, code) in [
                (ElementValue.string("this"), "Label", ElementalError.Code.refused),
                (.float(7), "Speed", .outOfRange), (.float(1), "Label", .wrongType),
                (.float(1), "None", .unknownElement),
            ] {
                guard case .refused(let error) = await follower.set(value, of: element, at: key) else {
                    throw TestSupportError("'\(element)' is not refused")
                }
                #expect(error.code == code)
            }
            await service.stop()
            try await log.wait(for: "away", of: key)
            guard case .notConnected = await follower.set(.uint32(2), of: "Count", at: key) else {
                throw TestSupportError("it is connected")
            }
        }
        refused.cancel()
    }

    @Test
    func browsingWorksAgainUnlessAnotherFailureFollowed() {
        var failures = Browsing.Failures()
        let worksBefore = failures.end()
        let (first, second) = (failures.begin(), failures.begin())
        let (afterFirst, afterSecond, again) = (failures.end(first), failures.end(second), failures.end(second))
        #expect(!worksBefore && !afterFirst && afterSecond && !again)
        _ = failures.begin()
        let onNews = failures.end()
        #expect(onNews)
    }
}
