import NIOPosix
import Testing

@testable import Elemental

/// Waits with a time limit, as short as they may be.
struct DelayTests {
    @Test("thousands of waits that are over before they have begun, or nearly, all return")
    func shortWaits() async {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask {
                    for round in 0..<500 { await Delay.wait(.microseconds((task + round) % 60 - 10)) }
                }
            }
        }
    }

    @Test
    func aCancelledWaitReturnsAtOnce() async {
        let waiting = Task { await Delay.wait(.seconds(3600)) }
        waiting.cancel()
        await waiting.value
    }

    @Test
    func anOpenLatchLetsEveryoneThrough() async {
        let latch = Latch()
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        async let early = latch.wait(.seconds(3600), on: eventLoop)
        latch.open()
        #expect(await early)
        #expect(await latch.wait(.zero, on: eventLoop))
        #expect(await !Latch().wait(.zero, on: eventLoop))
    }
}
