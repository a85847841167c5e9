import NIOPosix
import Support
import TestSupport
import Testing

/// Waits that others end, with and without a time limit.
struct LatchTests {
    private let eventLoop = MultiThreadedEventLoopGroup.singleton.any()

    /// In tasks of their own, so that one that never returns fails the test.
    @Test("thousands of waits of zero, negative or very short time all return")
    func shortDelays() async throws {
        let returned = Locked(0)
        for task in 0..<20 {
            Task {
                for round in 0..<100 {
                    await Delay.wait(.microseconds((task + round) % 60 - 10))
                    returned.withLock { $0 += 1 }
                }
            }
        }
        try await eventually("2,000 waits") { returned.withLock { $0 } == 2000 }
    }

    @Test
    func aDelayIsNotOverBeforeItsTime() async {
        // An event loop's timers expire in their order.
        let isEarlierOver = Locked(false)
        eventLoop.scheduleTask(in: .milliseconds(19)) { isEarlierOver.withLock { $0 = true } }
        await Delay.wait(.milliseconds(20), on: eventLoop)
        #expect(isEarlierOver.withLock { $0 })
    }

    @Test
    func aCancelledDelayReturnsAtOnce() async throws {
        let returned = Locked(false)
        let waiting = Task {
            await Delay.wait(.seconds(3600))
            returned.withLock { $0 = Task.isCancelled }
        }
        waiting.cancel()
        try await eventually("the wait's end") { returned.withLock { $0 } }
    }

    @Test
    func anOpenLatchLetsEveryoneThrough() async {
        let latch = Latch()
        async let early = latch.wait(.seconds(3600), on: eventLoop)
        async let patient = latch.wait()
        latch.open()
        #expect(await early)
        #expect(await patient)
        #expect(await latch.wait(.zero, on: eventLoop))
        #expect(await !Latch().wait(.zero, on: eventLoop))
    }

    @Test
    func aClosedLatchHoldsAgain() async {
        let latch = Latch()
        latch.open()
        latch.close()
        #expect(await !latch.wait(.milliseconds(1), on: eventLoop))
        latch.open()
        #expect(await latch.wait())
    }

    @Test
    func aCancelledWaitSaysSoAndOthersGoOn() async {
        let latch = Latch()
        async let other = latch.wait()
        let cancelled = Task { await latch.wait() }
        cancelled.cancel()
        #expect(await !cancelled.value)
        let timed = Task { [eventLoop] in await latch.wait(.seconds(3600), on: eventLoop) }
        timed.cancel()
        #expect(await !timed.value)
        latch.open()
        #expect(await other)
    }

    @Test
    func anOpenLatchIsNoticedByACancelledTaskToo() async {
        let latch = Latch()
        latch.open()
        let cancelled = Task {
            while !Task.isCancelled { await Task.yield() }
            return await latch.wait()
        }
        cancelled.cancel()
        #expect(await cancelled.value)
    }
}
