import NIOPosix
import Support
import Testing

/// What is decided once and awaited once.
struct OutcomeTests {
    private let eventLoop = MultiThreadedEventLoopGroup.singleton.any()

    @Test
    func theFirstDecisionCounts() async {
        let outcome = Outcome<Int>()
        #expect(outcome.resolve(1))
        #expect(!outcome.resolve(2))
        #expect(await outcome.value() == 1)
        #expect(!outcome.resolve(3))
    }

    @Test
    func whoWaitsGetsTheDecision() async {
        for round in 0..<1000 {
            let outcome = Outcome<Int>()
            async let value = outcome.value()
            async let isTaken = Task { outcome.resolve(round) }.value
            #expect(await value == round)
            #expect(await isTaken)
        }
    }

    @Test
    func aSecondWaitGetsNothing() async {
        let outcome = Outcome<Int>()
        outcome.resolve(1)
        #expect(await outcome.value() == 1)
        #expect(await outcome.value() == nil)
    }

    @Test
    func aCancelledWaitEndsAndALaterDecisionIsTheCallersAgain() async {
        let outcome = Outcome<Int>()
        let waiting = Task { await outcome.value() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        #expect(!outcome.resolve(1))
    }

    @Test("a value is either taken or given back, whenever the task is cancelled")
    func cancellationAndDecisionAtOnce() async {
        for _ in 0..<2000 {
            let outcome = Outcome<Int>()
            let waiting = Task { await outcome.value() }
            let resolving = Task { outcome.resolve(1) }
            waiting.cancel()
            let (value, isTaken) = (await waiting.value, await resolving.value)
            #expect((value == 1) == isTaken)
        }
    }

    @Test
    func timeDecidesIfNobodyElseDoes() async {
        let late = Outcome<String>()
        #expect(await late.value(within: .milliseconds(1), on: eventLoop) { "late" } == "late")
        #expect(!late.resolve("too late"))
        let early = Outcome<String>()
        early.resolve("early")
        #expect(await early.value(within: .hours(1), on: eventLoop) { "late" } == "early")
    }

    @Test
    func aCancelledWaitWithATimeLimitReturnsAtOnce() async {
        let outcome = Outcome<String>()
        let waiting = Task { [eventLoop] in await outcome.value(within: .hours(1), on: eventLoop) { "late" } }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }

    @Test
    func workOnAnEventLoopIsDoneForACancelledTaskToo() async {
        let working = Task { [eventLoop] in
            while !Task.isCancelled { await Task.yield() }
            return await eventLoop.run { eventLoop.inEventLoop }
        }
        working.cancel()
        #expect(await working.value)
    }
}
