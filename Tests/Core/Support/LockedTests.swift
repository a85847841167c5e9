import Support
import Testing

/// What the locks guard.
struct LockedTests {
    private struct Refused: Error {}

    @Test
    func onlyOneThreadAtATime() async {
        let (locked, briefly) = (Locked(0), BrieflyLocked(0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<20_000 {
                        locked.withLock { $0 += 1 }
                        briefly.withLock { $0 += 1 }
                    }
                }
            }
        }
        #expect(locked.withLock { $0 } == 160_000)
        #expect(briefly.withLock { $0 } == 160_000)
    }

    @Test
    func whoFindsItLockedForLongGoesOnAfterwards() async {
        let briefly = BrieflyLocked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                // Far longer than the threads that wait spin.
                group.addTask { briefly.withLock { value in for _ in 0..<50 { BriefSleep.sleep(); value += 1 } } }
            }
        }
        #expect(briefly.withLock { $0 } == 200)
    }

    @Test
    func anErrorUnlocks() {
        let (locked, briefly) = (Locked(1), BrieflyLocked(1))
        #expect(throws: Refused.self) { try locked.withLock { _ throws in throw Refused() } }
        #expect(throws: Refused.self) { try briefly.withLock { _ throws(Refused) in throw Refused() } }
        #expect(locked.withLock { $0 } == 1)
        #expect(briefly.withLock { $0 } == 1)
    }

    @Test
    func whatWasGuardedIsReleased() {
        final class Guarded {}
        weak var first: Guarded?
        weak var second: Guarded?
        do {
            let value = Guarded()
            let briefly = BrieflyLocked(value)
            let other = Guarded()
            (first, second) = (value, other)
            briefly.withLock { $0 = other }
        }
        #expect(first == nil)
        #expect(second == nil)
    }
}
