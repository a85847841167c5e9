import NIOCore
import Testing

@testable import Elemental

/// Limits of values per second.
struct ThrottleTests {
    private func time(_ milliseconds: Int64) -> NIODeadline {
        NIODeadline.uptimeNanoseconds(5_000_000_000) + .milliseconds(milliseconds)
    }

    @Test
    func aSecondTakesItsNumber() {
        var throttle = Throttle(limit: 100)
        #expect(throttle.add(60, at: time(0)) == nil)
        #expect(throttle.add(39, at: time(900)) == nil)
        #expect(throttle.add(1, at: time(950)) == time(1000))
        #expect(throttle.isOver)
        #expect(throttle.goOn(at: time(1000)) == nil)
        #expect(!throttle.isOver)
    }

    @Test
    func aNewSecondBeginsAnew() {
        var throttle = Throttle(limit: 100)
        #expect(throttle.add(99, at: time(0)) == nil)
        #expect(throttle.add(99, at: time(1000)) == nil)
    }

    @Test
    func excessMessagesFillTheFollowingSeconds() {
        var throttle = Throttle(limit: 100)
        #expect(throttle.add(250, at: time(0)) == time(1000))
        #expect(throttle.goOn(at: time(1000)) == time(2000))
        #expect(throttle.isOver)
        #expect(throttle.goOn(at: time(2000)) == nil)
        #expect(throttle.add(49, at: time(2100)) == nil)
        #expect(throttle.add(1, at: time(2200)) == time(3000))
    }
}
