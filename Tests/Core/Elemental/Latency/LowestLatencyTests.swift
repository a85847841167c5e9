import CLinux
import ElementalWire
import Foundation
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

    @Test
    func afterASingleValueItIsAwakeForTheTimeToHold() {
        var awake = AwakeTime(hold: .microseconds(500))
        #expect(awake.noteArrival(at: deadline(0)) == deadline(500))
        // 33 a second are no steady flow that is worth waiting for.
        #expect(awake.noteArrival(at: deadline(30_000)) == deadline(30_500))
        #expect(awake.end(from: deadline(30_100)) == deadline(30_600))
        #expect(awake.nextWindow == nil)
    }

    @Test
    func itIsAwakeForTheNextValueOfASlowerFlow() throws {
        var awake = AwakeTime(hold: .microseconds(500))
        for number in 0..<100 {
            #expect(awake.noteArrival(at: deadline(number * 10_000)) == deadline(number * 10_000 + 500))
        }
        #expect(awake.nextWindow == deadline(998_750)..<deadline(1_001_750))
        // One that is late moves it, for a while.
        _ = awake.noteArrival(at: deadline(1_002_000))
        let late = try #require(awake.nextWindow)
        #expect(late.upperBound > deadline(1_014_000))
        // A fast flow is awake all the time, and after a pause nothing is awaited.
        for number in 0..<1000 { _ = awake.noteArrival(at: deadline(1_002_000 + number * 1000)) }
        #expect(awake.nextWindow == nil)
        _ = awake.noteArrival(at: deadline(9_000_000))
        #expect(awake.nextWindow == nil)
    }

    @Test(arguments: [250, 1000, 20_000])
    func itIsAwakeFromOneValueToTheNextOfASteadyFlow(rate: Int) {
        var awake = AwakeTime(hold: .microseconds(50))
        var end = deadline(0)
        for number in 0..<1000 {
            // Some come a little late.
            let now = deadline(number * 1_000_000 / rate + (number.isMultiple(of: 3) ? 40_000 / rate : 0))
            if number > 3 { #expect(now < end, "value \(number) at \(rate) a second") }
            end = awake.noteArrival(at: now)
        }
        // It waits a while for one that is late, and after a pause the flow is forgotten.
        #expect(end - deadline(999 * 1_000_000 / rate) <= .microseconds(6300 + 40_000 / Int64(rate)))
        let later = deadline(5_000_000)
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
                #expect(window.lowerBound < deadline(time) && deadline(time) < window.upperBound)
            }
            for part in 0..<3 { _ = awake.noteArrival(at: deadline(time + part * 100)) }
        }
    }

    @Test(arguments: [6, 15, 30])
    func aFastFlowIsSoonKnownAgainAfterAStall(milliseconds: Int) {
        var awake = AwakeTime(hold: .microseconds(500))
        for number in 0..<100 { _ = awake.noteArrival(at: deadline(number * 1000)) }
        let start = 99_000 + milliseconds * 1000
        _ = awake.noteArrival(at: deadline(start))
        for number in 1..<8 { _ = awake.noteArrival(at: deadline(start + number * 1000)) }
        #expect(awake.noteArrival(at: deadline(start + 8000)) > deadline(start + 9000))
        #expect(awake.nextWindow == nil)
    }

    @Test
    func aFlowThatHasLastedForAWhileIsNotOverAfterAStall() {
        var awake = AwakeTime(hold: .microseconds(500))
        for number in 0..<100 { _ = awake.noteArrival(at: deadline(number * 1000)) }
        // The other end is held up for longer than it waits.
        #expect(awake.noteArrival(at: deadline(119_000)) == deadline(125_750))
        #expect(awake.noteArrival(at: deadline(120_000)) == deadline(126_750))
        #expect(awake.nextWindow == nil)
        // Once it has ended, what this end sends keeps nothing awake for it.
        #expect(awake.end(from: deadline(121_000)) == deadline(127_750))
        #expect(awake.end(from: deadline(200_000)) == deadline(200_500))
        // What is late again and again is a slower flow.
        for number in 0..<3 { _ = awake.noteArrival(at: deadline(140_000 + number * 20_000)) }
        #expect(awake.nextWindow != nil)
    }

    @Test
    func bursts() {
        // Two at a time, 1,000 times a second: the gap between the bursts counts.
        var awake = AwakeTime(hold: .microseconds(10))
        for burst in 0..<20 {
            let end = awake.noteArrival(at: deadline(burst * 1000))
            let second = awake.noteArrival(at: deadline(burst * 1000 + 5))
            if burst > 1 { #expect(min(end, second) > deadline((burst + 1) * 1000)) }
        }
    }

    // MARK: Sharing a core

    /// Adds time, of which the thread got a part, until it is told to do something.
    private static func advice(_ share: inout CoreShare, used: Double, for milliseconds: Int) -> CoreShare.Advice {
        for _ in 0..<milliseconds {
            let advice = share.note(elapsed: .milliseconds(1), used: .nanoseconds(Int64(used * 1e6)))
            if advice != .stay { return advice }
        }
        return .stay
    }

    @Test
    func whoGetsLessThanItsCoreTriesOthersAndThenRestsEachTimeLonger() {
        var share = CoreShare(coreCount: 4)
        #expect(Self.advice(&share, used: 0.99, for: 100) == .stay)
        for _ in 0..<2 {
            for _ in 0..<3 { #expect(Self.advice(&share, used: 0.5, for: 16) == .move) }
            for rest: Int64 in [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000] {
                #expect(Self.advice(&share, used: 0.5, for: 16) == .rest(.milliseconds(rest)))
            }
            // Then the core is its own for a while.
            #expect(Self.advice(&share, used: 0.99, for: 20) == .stay)
        }
        var single = CoreShare(coreCount: 1)
        #expect(Self.advice(&single, used: 0.5, for: 16) == .rest(.milliseconds(100)))
    }

    @Test
    func whoIsHeldUpForLongAtOnceWaitsForNobody() {
        // A container that has used up its time.
        var share = CoreShare(coreCount: 1)
        #expect(share.note(elapsed: .milliseconds(63), used: .zero) == .rest(.milliseconds(100)))
    }

    @Test
    func itStaysIfTheOtherOneLeaves() {
        var share = CoreShare(coreCount: 2)
        #expect(Self.advice(&share, used: 0.5, for: 10) == .stay)
        #expect(Self.advice(&share, used: 1, for: 1000) == .stay)
    }

    @Test
    func aThreadOfTheSystemThatRunsForOneTickIsNoReasonToMove() {
        var share = CoreShare(coreCount: 2)
        for _ in 0..<100 {
            #expect(share.note(elapsed: .milliseconds(4), used: .zero) == .stay)
            for _ in 0..<6 { #expect(share.note(elapsed: .milliseconds(1), used: .milliseconds(1)) == .stay) }
        }
    }

    @Test
    func theThreadGoesToAnotherCoreIfThereIsOne() async throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let isAlone = status.contains(/Cpus_allowed_list:\s*\d+\n/)
        // By itself the system moves it there too, but hardly each time.
        let moved = await Task.detached {
            (0..<100).count { _ in
                let core = clinux_core()
                return clinux_leave_core() && clinux_core() != core
            }
        }.value
        if isAlone { #expect(moved == 0) } else { #expect(moved > 50) }
    }

    // MARK: The loop

    @Test(.enabled(if: System.coreCount > 1), .backstop)
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

    @Test(.backstop, arguments: ConnectionKind.allCases)
    func valuesFlowAsEver(kind: ConnectionKind) async throws {
        try await withService(over: kind) {
            $0.latency = .lowest
        } _: { service, port in
            service.onValue(of: Lamp.label) { text, device in try? device.send(text, to: Lamp.label) }
            service.onValue(of: Lamp.count) { count, device in try? device.send(count, to: Lamp.count) }
            let device = try await connect(port, over: kind, latency: .lowest(holding: .milliseconds(5)))
            let (texts, counts) = (Transcript<String>(), Transcript<UInt64>())
            device.onValue(of: Lamp.label) { texts.add($0) }
            device.onValue(of: Lamp.count) { counts.add($0) }
            // One that is asleep meanwhile is served too.
            let other = try await connect(port, as: "other", over: kind)
            let others = Transcript<String>()
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
