import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// The frames that both ends exchange, and what they do over a connection.
struct ClockExchangeTests {
    private static func clock(_ time: Int64, slept: UInt32 = 0) -> MachineClock {
        MachineClock(time: time, anchor: 1_700_000_000_000_000_000, slept: slept)
    }

    @Test("a frame's bytes, and what is none")
    func frames() {
        let frame = ClockFrame(.answer, nonce: 0x0807_0605_0403_0201, first: 9, second: 10, anchor: -1, slept: 11)
        let bytes: [UInt8] =
            [2] + Array(1...8) + [9, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 255, count: 8)
            + [11, 0, 0, 0]
        #expect(frame.wireBytes == bytes)
        func read(_ bytes: [UInt8]) -> ClockFrame? { bytes.withUnsafeBytes { ClockFrame(wireBytes: $0) } }
        #expect(read(bytes) == frame)
        for wrong in [[], Array(bytes.dropLast()), bytes + [0], [3] + bytes.dropFirst(), [0] + bytes.dropFirst()] {
            #expect(read(wrong) == nil)
        }
        // Times below 0 and of 2^62.
        for (place, byte) in [(16, 0x80), (16, 0x40), (24, 0xFF)] as [(Int, UInt8)] {
            var wrong = bytes
            wrong[place] = byte
            #expect(read(wrong) == nil)
        }
    }

    @Test("both ends learn of each other's clock by the client's requests")
    func both() throws {
        var (client, service) = (ClockExchange(), ClockExchange())
        for number in 0..<3 as Range<Int64> {
            let sent = 1000 + number * 1_000_000
            let asked = client.request(at: Self.clock(sent), nonce: UInt64(number))
            let request = try #require(asked)
            // The service's clock is 5000 ahead, and a message takes 100.
            let answer = service.answer(request, at: Self.clock(sent + 5100))
            #expect(answer.nonce == UInt64(number))
            let isTaken = client.take(answer, at: Self.clock(sent + 200))
            #expect(isTaken)
            #expect(try #require(client.reading).offset(at: sent + 200).offset == 5000)
            // The service knows the times of all exchanges but the last.
            if number == 0 {
                #expect(service.reading == nil)
            } else {
                #expect(try #require(service.reading).offset(at: sent + 5100).offset == -5000)
            }
        }
        #expect(client.count == 3)
        // Each by its own time of day.
        #expect(client.anchor(at: 0) == 1_700_000_000_000_000_000)
    }

    @Test("a reading agrees with times of another one if both can be true, and each keeps the distances of times")
    func readings() throws {
        /// Of a clock that is so many nanoseconds ahead, by one exchange in which a message took `there` and the other `back`.
        func reading(ahead: Int64, there: Int64 = 100, back: Int64 = 100) throws -> ClockReading {
            var (client, service) = (ClockExchange(), ClockExchange())
            let now = MachineClock.time
            let asked = client.request(at: Self.clock(now), nonce: 1)
            let answer = service.answer(try #require(asked), at: Self.clock(now + ahead + there))
            let isTaken = client.take(answer, at: Self.clock(now + there + back))
            #expect(isTaken)
            return ClockReading(clock: try #require(client.known), day: 1_700_000_000_000_000_000)
        }
        let hour: Int64 = 3_600_000_000_000
        let (one, other) = (try reading(ahead: hour, back: 2_000_000), try reading(ahead: hour, there: 2_000_000))
        let (now, second) = ((MachineClock.time + hour) / 1000, 1_000_000 as Int64)
        // They differ by 2 ms, which is as much as each may be wrong.
        #expect(abs(one.seconds(at: now) - other.seconds(at: now) - 0.002) < 0.0001)
        func received(_ reading: ClockReading) -> ReceivedTime {
            ReceivedTime(time: .now, error: .milliseconds(1), secondsSince1970: reading.seconds(at: now))
        }
        #expect(one.agrees(with: received(other), at: now) && other.agrees(with: received(one), at: now))
        #expect(abs(one.seconds(at: now + second) - one.seconds(at: now) - 1) < 0.0001)
        #expect(!one.agrees(with: received(try reading(ahead: hour / 2)), at: now))
    }

    @Test("only the answer to the last request counts, once")
    func nonces() throws {
        var (client, service) = (ClockExchange(), ClockExchange())
        // The second one waits for the answer to the first, but not for ever.
        let later: Int64 = 10_000_001_000
        let requests = [1000, later - 1, later].map { client.request(at: Self.clock($0), nonce: UInt64($0)) }
        #expect(requests[1] == nil)
        let first = service.answer(try #require(requests[0]), at: Self.clock(1100))
        let second = service.answer(try #require(requests[2]), at: Self.clock(later + 100))
        let isTaken = [first, second, second].map { client.take($0, at: Self.clock(later + 200)) }
        #expect(isTaken == [false, true, false])
        #expect(client.count == 1)
    }

    @Test("an answer that was lost is not taken for another one by the service")
    func lostAnswer() throws {
        var (client, service) = (ClockExchange(), ClockExchange())
        let gap: Int64 = 10_000_000_000
        for number in 0..<6 as Range<Int64> {
            let sent = 1000 + number * gap
            let asked = client.request(at: Self.clock(sent), nonce: UInt64(number))
            let request = try #require(asked)
            let answer = service.answer(request, at: Self.clock(sent + 5100))
            // Every other answer is lost.
            if number % 2 == 0 {
                let isTaken = client.take(answer, at: Self.clock(sent + 200))
                #expect(isTaken)
            }
            guard number >= 1 else { continue }
            let (offset, error) = try #require(service.reading).offset(at: sent + 5100)
            #expect(abs(offset + 5000) <= error && error < 20_000_000)
        }
    }

    @Test("a machine that has slept begins anew", arguments: [true, false])
    func afterSleep(isClient: Bool) throws {
        var (client, service) = (ClockExchange(), ClockExchange())
        func exchange(at time: Int64, ahead: Int64, slept: UInt32) throws -> Bool {
            let own = Self.clock(time, slept: isClient ? slept : 0)
            let other = Self.clock(time + ahead + 50, slept: isClient ? 0 : slept)
            let request = client.request(at: own, nonce: 1)
            let answer = service.answer(try #require(request), at: other)
            return client.take(answer, at: Self.clock(time + 100, slept: own.slept))
        }
        #expect(try exchange(at: 1000, ahead: 7000, slept: 0))
        // Less than ten milliseconds are an inaccuracy of reading two clocks.
        #expect(try exchange(at: 2000, ahead: 7000, slept: 9))
        #expect(client.reading != nil)
        _ = try exchange(at: 3000, ahead: 900_000, slept: 30_009)
        #expect(try exchange(at: 4000, ahead: 900_000, slept: 30_009))
        #expect(try #require(client.reading).offset(at: 4000).offset == 900_000)
    }

    @Test("both ends of a connection know the other's clock", arguments: ConnectionKind.allCases)
    func connection(kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            try await eventually("the service has the client") { !service.devices.isEmpty }
            for end in [device] + service.devices {
                try await eventually("the clock") { end.clock != nil }
                let clock = try #require(end.clock)
                // It is the same clock.
                #expect(abs(clock.offset / .nanoseconds(1)) <= clock.error / .nanoseconds(1))
                #expect(clock.drift == 0)
            }
        }
    }

    @Test("a client without the feature is told no times, and its requests are not answered")
    func withoutFeature() throws {
        let service = EmbeddedService()
        let request = ClockFrame(.request, nonce: 7, first: 0, second: 0, anchor: 0, slept: 0)
        for (features, isAnswered) in [([.ping], false), ([.ping, .clock], true)] as [(Hello.Features, Bool)] {
            let peer = try service.connect()
            peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: features).wireBytes))
            service.wait(5)
            _ = try peer.heard()
            peer.say(frame(-16, request.wireBytes))
            let heard = try peer.heard()
            #expect(heard.isEmpty != isAnswered)
            if isAnswered { #expect(heard.prefix(14) == [0xF0, 37, 0, 0, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0]) }
        }
    }

    @Test("an answer where a request belongs is malformed, and counted")
    func wrongWay() throws {
        let service = EmbeddedService()
        let peer = try service.connect()
        peer.say(frame(-2, Array("h".utf8)) + frame(-4, Hello(features: [.ping, .clock]).wireBytes))
        _ = try peer.heard()
        let answer = ClockFrame(.answer, nonce: 7, first: 1, second: 1, anchor: 0, slept: 0)
        peer.say(frame(-16, answer.wireBytes) + frame(-16, Array(repeating: 1, count: 36)))
        #expect(try peer.heard().isEmpty)
        #expect(try #require(service.service.devices.first).statistics.messagesMalformed == 2)
    }
}
