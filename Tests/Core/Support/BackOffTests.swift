import Support
import TestSupport
import Testing

/// Delays between attempts.
struct BackOffTests {
    @Test
    func delaysDoubleUntilASuccess() {
        var backOff = BackOff()
        let delays = (1...9).map { _ in backOff.next() }
        #expect(delays == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        backOff.reset()
        #expect(backOff.next() == .milliseconds(500))
    }

    @Test
    func theNumberOfTheAttemptSays() {
        let backOff = BackOff(first: .seconds(1), maximum: .seconds(20), factor: 3)
        #expect((1...5).map { backOff.delay(before: $0) } == [1, 3, 9, 20, 20].map { .seconds($0) })
        #expect(backOff.delay(before: 0) == .seconds(1))
        #expect(backOff.delay(before: -1) == .seconds(1))
        #expect(backOff.delay(before: .max) == .seconds(20))
    }

    @Test("numbers outside their range count as the nearest within")
    func strangeNumbers() {
        #expect(BackOff(first: .seconds(-1), maximum: .seconds(1), factor: .nan, jitter: 7).delay(before: 2) == .zero)
        #expect(
            BackOff(first: .seconds(9), maximum: .seconds(4), factor: 3, jitter: -1).delay(before: 1) == .seconds(4))
        #expect(BackOff(first: .seconds(2), maximum: .seconds(4), factor: 0).delay(before: .max) == .seconds(2))
        #expect(BackOff(first: .seconds(2), maximum: .seconds(-4)).delay(before: 3) == .zero)
        #expect(BackOff(first: .seconds(1), factor: .infinity, jitter: .nan).delay(before: 2) == .seconds(30))
    }

    @Test
    func jitterTakesOffAPartOfTheDelay() {
        let backOff = BackOff(first: .seconds(1), maximum: .seconds(8), jitter: 0.5)
        var generator = SeededGenerator(seed: 1)
        let fourth = (0..<1000).map { _ in backOff.delay(before: 4, using: &generator) }
        #expect(fourth.allSatisfy { $0 >= .seconds(4) && $0 <= .seconds(8) })
        #expect(Set(fourth).count > 900)
        #expect((fourth.min() ?? .zero) < .seconds(4.1))
        #expect((fourth.max() ?? .zero) > .seconds(7.9))
    }
}
