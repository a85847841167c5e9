import TestSupport
import Testing

@testable import ElementalSecurity

struct ReplayWindowTests {
    @Test
    func theWindowHas960Counters() {
        var window = ReplayWindow()
        window.mark(5000)
        #expect(!window.allows(5000))
        #expect(window.allows(5000 - 959))
        #expect(!window.allows(5000 - 960))
        #expect(window.allows(5001))
        #expect(window.newest == 5000)
    }

    @Test
    func zeroIsACounterToo() {
        var window = ReplayWindow()
        #expect(window.allows(0))
        window.mark(0)
        #expect(!window.allows(0))
        #expect(window.allows(1))
    }

    @Test
    func theLastCounterOfAllIsTaken() {
        var window = ReplayWindow()
        window.mark(.max)
        #expect(!window.allows(.max))
        #expect(window.allows(.max - 959))
        #expect(!window.allows(0))
    }

    /// Against a set that remembers everything: jumps, small and large, and old counters in between.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func randomCountersAreTakenAsASetWould(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var window = ReplayWindow()
        var taken: Set<UInt64> = []
        var newest: UInt64 = 0
        for _ in 0..<5000 {
            let step = random.next() >> 31
            let counter: UInt64
            switch step % 8 {
            case 0: counter = newest + step / 8 % 3000
            case 1...3: counter = newest + step / 8 % 5
            default: counter = newest - min(newest, step / 8 % 1100)
            }
            let isNew =
                taken.isEmpty || counter > newest || newest - counter < ReplayWindow.size && !taken.contains(counter)
            #expect(window.allows(counter) == isNew, "\(counter) after \(newest)")
            if isNew {
                window.mark(counter)
                taken.insert(counter)
                newest = max(newest, counter)
            }
        }
    }
}
