import Foundation
import TestSupport
import Testing

/// How the limits of waits belong together.
struct PatienceTests {
    @Test
    func theEnvironmentScalesEveryWait() {
        let wanted = ProcessInfo.processInfo.environment[Patience.variable].flatMap(Double.init) ?? 1
        #expect(Patience.factor >= max(1, wanted))
        #expect(Patience.wait == .seconds(60) * Patience.factor)
    }

    @Test
    func aCommandsLimitIsAWholeNumberThatIsNotShorterThanAWait() throws {
        let seconds = try #require(Int(Patience.seconds))
        #expect(Duration.seconds(seconds) >= Patience.wait)
    }

    @Test
    func aTestEndsAfterItsWaits() {
        #expect(TimeLimitTrait.backstop.timeLimit >= Patience.wait * 5)
    }
}
