import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// The other machine's clock as exchanges show it, without sockets and with made-up clocks.
struct PeerClockTests {
    private static let second: Int64 = 1_000_000_000

    /// Two clocks and a network between them. True time is this machine's clock.
    private struct Network {
        /// By how much the other clock is ahead at the start, in nanoseconds, and how much faster it runs.
        var ahead: Int64 = 3600 * second
        var drift = 100e-6
        var delay: (inout SeededGenerator) -> Int64
        var generator: SeededGenerator

        init(seed: UInt64, delay: @escaping (inout SeededGenerator) -> Int64) {
            generator = SeededGenerator(seed: seed)
            self.delay = delay
        }

        func offset(at time: Int64) -> Int64 { ahead + Int64(drift * Double(time)) }

        mutating func exchange(at time: Int64) -> PeerClock.Exchange {
            let arrival = time + delay(&generator)
            let answer = arrival + Int64(generator.number(0...50_000))
            return PeerClock.Exchange(
                sent: time, received: arrival + offset(at: arrival), answered: answer + offset(at: answer),
                returned: answer + delay(&generator))
        }

        static let links: [(name: String, delay: @Sendable (inout SeededGenerator) -> Int64)] = [
            ("5 ± 3 ms", { Int64($0.number(2_000_000...8_000_000)) }),
            ("100 µs", { Int64($0.number(80_000...120_000)) }),
            // The queue of one direction is mostly full.
            ("queues", { Int64($0.once(in: 4) ? 1_000_000 : $0.number(10_000_000...900_000_000)) }),
        ]
    }

    @Test("the true difference is within the limits, on any link", arguments: 0..<Network.links.count)
    func limits(link: Int) throws {
        for seed in 0..<40 as Range<UInt64> {
            var network = Network(seed: seed, delay: Network.links[link].delay)
            network.drift = Double(Int(seed) % 11 - 5) * 40e-6
            var clock = PeerClock()
            var time: Int64 = 0
            for number in 0..<200 {
                // Eight at once, and then one a second.
                time += number < 8 ? 20_000_000 : Self.second
                let isTrue = clock.add(network.exchange(at: time))
                #expect(isTrue)
                let reading = try #require(clock.reading)
                for _ in 0..<5 {
                    let later = time + Int64(network.generator.number(0...3_000_000_000))
                    let (offset, error) = reading.offset(at: later)
                    #expect(abs(offset - network.offset(at: later)) <= error, "seed \(seed), exchange \(number)")
                    let own = reading.own(of: later + network.offset(at: later))
                    #expect(abs(own.time - later) <= own.error, "seed \(seed), exchange \(number)")
                }
            }
        }
    }

    @Test("on a link of 5 ± 3 ms the estimate is right to a millisecond after 90 s")
    func estimate() throws {
        var mistakes: [Int64] = []
        for seed in 0..<60 as Range<UInt64> {
            var network = Network(seed: seed, delay: Network.links[0].delay)
            var clock = PeerClock()
            for number in 0..<200 as Range<Int64> {
                clock.add(network.exchange(at: number * Self.second))
                guard number >= 90, let reading = clock.reading else { continue }
                let now = number * Self.second + Self.second / 2
                mistakes.append(abs(reading.offset(at: now).offset - network.offset(at: now)))
                #expect(abs(reading.drift - network.drift) < 100e-6)
            }
        }
        mistakes.sort()
        #expect(mistakes[mistakes.count * 99 / 100] < 1_000_000)
    }

    @Test("the error is half the shortest round trip, and grows with time")
    func error() throws {
        var clock = PeerClock()
        #expect(clock.reading == nil)
        clock.add(PeerClock.Exchange(sent: 0, received: 7_000_500, answered: 7_000_500, returned: 1000))
        let reading = try #require(clock.reading)
        #expect(reading.offset(at: 1000).offset == 7_000_000)
        #expect((500...502).contains(reading.offset(at: 1000).error))
        let later = reading.offset(at: 1000 + 2 * Self.second).error - reading.offset(at: 1000).error
        #expect((999_990...1_000_010).contains(later))
        #expect(reading.own(of: 7_001_000).time == 1000)
    }

    @Test("what contradicts everything before counts alone")
    func jump() throws {
        var network = Network(seed: 1) { _ in 1_000_000 }
        network.drift = 0
        var clock = PeerClock()
        for number in 0..<10 as Range<Int64> { clock.add(network.exchange(at: number * Self.second)) }
        network.ahead += 60 * Self.second
        let isTrue = clock.add(network.exchange(at: 10 * Self.second))
        #expect(isTrue)
        let (offset, error) = try #require(clock.reading).offset(at: 10 * Self.second)
        #expect(abs(offset - network.ahead) <= error)
    }

    @Test("an answer that took less than no time is refused")
    func impossible() {
        var clock = PeerClock()
        let exchange = PeerClock.Exchange(sent: 1000, received: 5000, answered: 9000, returned: 2000)
        let isTrue = clock.add(exchange)
        #expect(!isTrue)
        #expect(clock.reading == nil)
    }

    @Test("no times of a peer are too large or too small")
    func extremes() throws {
        var generator = SeededGenerator(seed: 5)
        var clock = PeerClock()
        let largest = ClockFrame.timeLimit - 1
        for _ in 0..<2000 {
            func time() -> Int64 {
                generator.once(in: 3)
                    ? (generator.once(in: 2) ? 0 : largest) : Int64.random(in: 0...largest, using: &generator)
            }
            clock.add(PeerClock.Exchange(sent: time(), received: time(), answered: time(), returned: time()))
            guard let reading = clock.reading else { continue }
            for now in [0, largest, time()] {
                #expect(reading.offset(at: now).error >= 0)
                #expect(reading.own(of: now).error >= 0)
            }
        }
        #expect(clock.reading != nil)
    }
}
