import ElementalWire
import Glibc
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import Elemental

/// Event loops that do not sleep while values flow.
struct LowestLatencyTests {
    // MARK: How long

    private static func time(_ microseconds: Int) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000) + .microseconds(Int64(microseconds))
    }

    @Test
    func afterASingleValueItIsAwakeForTheTimeToHold() {
        var awake = AwakeTime(hold: .microseconds(500))
        #expect(awake.noteArrival(at: Self.time(0)) == Self.time(500))
        // 33 a second are no steady flow that is worth waiting for.
        #expect(awake.noteArrival(at: Self.time(30_000)) == Self.time(30_500))
        #expect(awake.end(from: Self.time(30_100)) == Self.time(30_600))
        #expect(awake.nextWindow == nil)
    }

    @Test
    func itIsAwakeForTheNextValueOfASlowerFlow() throws {
        var awake = AwakeTime(hold: .microseconds(500))
        for number in 0..<100 {
            #expect(awake.noteArrival(at: Self.time(number * 10_000)) == Self.time(number * 10_000 + 500))
        }
        #expect(awake.nextWindow == AwakeTime.Window(start: Self.time(998_750), end: Self.time(1_001_750)))
        // One that is late moves it, for a while.
        _ = awake.noteArrival(at: Self.time(1_002_000))
        let late = try #require(awake.nextWindow)
        #expect(late.end > Self.time(1_014_000))
        // A fast flow is awake all the time, and after a pause nothing is awaited.
        for number in 0..<1000 { _ = awake.noteArrival(at: Self.time(1_002_000 + number * 1000)) }
        #expect(awake.nextWindow == nil)
        _ = awake.noteArrival(at: Self.time(9_000_000))
        #expect(awake.nextWindow == nil)
    }

    @Test(arguments: [250, 1000, 20_000])
    func itIsAwakeFromOneValueToTheNextOfASteadyFlow(rate: Int) {
        var awake = AwakeTime(hold: .microseconds(50))
        var end = Self.time(0)
        for number in 0..<1000 {
            // Some come a little late.
            let now = Self.time(number * 1_000_000 / rate + (number.isMultiple(of: 3) ? 40_000 / rate : 0))
            if number > 3 { #expect(now < end, "value \(number) at \(rate) a second") }
            end = awake.noteArrival(at: now)
        }
        // Not for much longer than that, and after a pause it is forgotten.
        #expect(end - Self.time(999 * 1_000_000 / rate) <= .microseconds(Int64(1_400_000 / rate + 50)))
        let later = Self.time(5_000_000)
        #expect(awake.noteArrival(at: later) == later + .microseconds(50))
    }

    @Test
    func aSlowerFlowOfSeveralValuesAtATimeIsAwaited() throws {
        var awake = AwakeTime(hold: .microseconds(500))
        // 50 times a second, not quite on time, three at a time.
        for number in 0..<100 {
            let time = number * 20_000 + number % 3 * 200
            if number > 1 {
                let window = try #require(awake.nextWindow)
                #expect(window.start < Self.time(time) && Self.time(time) < window.end)
            }
            for part in 0..<3 { _ = awake.noteArrival(at: Self.time(time + part * 100)) }
        }
    }

    @Test(arguments: [6, 15, 30])
    func aFastFlowIsSoonKnownAgainAfterAStall(milliseconds: Int) {
        var awake = AwakeTime(hold: .microseconds(500))
        for number in 0..<100 { _ = awake.noteArrival(at: Self.time(number * 1000)) }
        let start = 99_000 + milliseconds * 1000
        _ = awake.noteArrival(at: Self.time(start))
        for number in 1..<8 { _ = awake.noteArrival(at: Self.time(start + number * 1000)) }
        #expect(awake.noteArrival(at: Self.time(start + 8000)) > Self.time(start + 9000))
        #expect(awake.nextWindow == nil)
    }

    @Test
    func bursts() {
        // Two at a time, 1,000 times a second: the gap between the bursts counts.
        var awake = AwakeTime(hold: .microseconds(10))
        for burst in 0..<20 {
            let end = awake.noteArrival(at: Self.time(burst * 1000))
            let second = awake.noteArrival(at: Self.time(burst * 1000 + 5))
            if burst > 1 { #expect(min(end, second) > Self.time((burst + 1) * 1000)) }
        }
    }

    // MARK: Sharing a core

    @Test
    func whoGetsLessThanItsCoreRestsEachTimeLonger() {
        var share = CoreShare()
        let part = TimeAmount.milliseconds(1)
        func note(_ used: Int64) -> TimeAmount? {
            var rest: TimeAmount?
            for _ in 0..<10 { rest = rest ?? share.note(elapsed: part, used: .microseconds(used)) }
            return rest
        }
        #expect(note(990) == nil)
        for rest: Int64 in [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000] {
            #expect(note(500) == .milliseconds(rest))
        }
        #expect(note(990) == nil)
        #expect(note(500) == .milliseconds(100))
    }

    // MARK: The loop

    @Test(.enabled(if: System.coreCount > 1), .timeLimit(.minutes(1)))
    func itLooksAtItsSocketsUntilItsTimeIsOver() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        try await loop.submit {
            let sleepless = try #require(SleeplessLoop.retain(on: loop))
            // Only the time makes it fall asleep, and not other tests.
            sleepless.share = nil
            // A second connection of the loop has the same.
            #expect(SleeplessLoop.retain(on: loop) === sleepless)
        }.get()
        let sleepless = try await loop.submit {
            NIOLoopBound(try #require(SleeplessLoop.retain(on: loop)), eventLoop: loop)
        }
        .get()
        let turns = Locked(0)
        // It may take a while until the pipe is open, and others may want the core.
        try await eventually {
            loop.execute {
                let now = NIODeadline.now()
                sleepless.value.stayAwake(until: now + .milliseconds(20), now: now)
                if sleepless.value.isAwake { turns.withLock { $0 += 1 } }
            }
            return turns.withLock { $0 } > 0
        }
        // Tasks are run meanwhile, and then it falls asleep: it has no turns any more.
        try await eventually { !(try await loop.submit { sleepless.value.isAwake }.get()) }
        let turnCount = try await loop.submit { sleepless.value.turnCount }.get()
        #expect(turnCount > 1)
        for _ in 0..<100 { try await loop.submit {}.get() }
        #expect(try await loop.submit { sleepless.value.turnCount }.get() == turnCount)
        try await loop.submit { for _ in 0..<3 { sleepless.value.release() } }.get()
        try await group.shutdownGracefully()
    }

    @Test(.timeLimit(.minutes(1)), arguments: ConnectionKind.allCases)
    func valuesFlowAsEver(kind: ConnectionKind) async throws {
        try await withService(over: kind) {
            $0.latency = .lowest
        } _: { service, port in
            service.onValue(of: Lamp.label) { text, device in try? device.send(text, to: Lamp.label) }
            service.onValue(of: Lamp.count) { count, device in try? device.send(count, to: Lamp.count) }
            let device = try await connect(port, over: kind, latency: .lowest(holding: .milliseconds(5)))
            let (texts, counts) = (Gathered<String>(), Gathered<UInt64>())
            device.onValue(of: Lamp.label) { texts.add($0) }
            device.onValue(of: Lamp.count) { counts.add($0) }
            // One that is asleep meanwhile is served too.
            let other = try await connect(port, as: "other", over: kind)
            let others = Gathered<String>()
            other.onValue(of: Lamp.label) { others.add($0) }
            for number in 0..<200 {
                try await device.sendWhenReady("\(number)", to: Lamp.label)
                try await device.sendWhenReady(UInt64(number), to: Lamp.count)
                if number.isMultiple(of: 10) { try await other.sendWhenReady("\(number)", to: Lamp.label) }
                if number.isMultiple(of: 50) { try await texts.wait(for: number + 1) }
            }
            try await texts.wait(for: 200)
            try await counts.wait(for: 200)
            try await others.wait(for: 20)
            #expect(texts.all == (0..<200).map { "\($0)" })
            #expect(counts.all == (0..<200).map { UInt64($0) })
            await device.close()
            await other.close()
        }
    }
}
