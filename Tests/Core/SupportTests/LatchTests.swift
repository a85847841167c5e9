import NIOPosix
import Support
import Testing

/// Waits that others end, with and without a time limit.
struct LatchTests {
    private let eventLoop = MultiThreadedEventLoopGroup.singleton.any()

    @Test("thousands of delays that are over before they have begun, or nearly, all return")
    func shortDelays() async {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask {
                    for round in 0..<500 { await Delay.wait(.microseconds((task + round) % 60 - 10)) }
                }
            }
        }
    }

    @Test
    func aCancelledDelayReturnsAtOnce() async {
        let waiting = Task { await Delay.wait(.seconds(3600)) }
        waiting.cancel()
        await waiting.value
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
