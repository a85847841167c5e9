import TestSupport
import Testing

@testable import ElementalBench

struct SequenceCounterTests {
    @Test
    func messagesInOrder() {
        var counter = SequenceCounter()
        #expect(Self.take(Array(0..<100), &counter) == 100)
        #expect(counter.count == 100)
        #expect(counter.disordered == 0)
        #expect(counter.repeated == 0)
    }

    @Test
    func lostLateAndRepeatedMessages() {
        var counter = SequenceCounter()
        #expect(Self.take([0, 1, 5, 3, 3, 1, 9], &counter) == 5)
        // 2, 4, 6, 7, 8 are missing.
        #expect(counter.count == 5)
        #expect(counter.next == 10)
        #expect(counter.disordered == 1)
        #expect(counter.repeated == 2)
        #expect(Self.take([2, 4, 8, 7, 6], &counter) == 5)
        #expect(counter.count == 10)
        #expect(counter.missingCount == 0)
        #expect(Self.take([7], &counter) == 0)
    }

    @Test
    func anyOrderIsCountedOnce() {
        var counter = SequenceCounter()
        var generator = SeededGenerator(seed: 1)
        #expect(Self.take((0..<1000).shuffled(using: &generator), &counter) == 1000)
        #expect(Self.take((0..<1000).shuffled(using: &generator), &counter) == 0)
        #expect(counter.count == 1000)
        #expect(counter.repeated == 1000)
    }

    @Test
    func oldGapsAreGivenUp() {
        var counter = SequenceCounter()
        let last = UInt64(SequenceCounter.capacity * 4)
        Self.take(Array(stride(from: 1, through: last, by: 2)), &counter)
        #expect(counter.count == last / 2)
        // The oldest gap is forgotten, and its numbers remain lost.
        #expect(Self.take([0], &counter) == 0)
        #expect(Self.take([last - 2], &counter) == 1)
        #expect(counter.count == last / 2 + 1)
    }

    @Test
    func numbersCarryTheRun() {
        let number = MessageNumber(run: MessageNumber.highestRun, sequence: 7)
        #expect(number.run == MessageNumber.highestRun)
        #expect(number.sequence == 7)
        #expect(number.next == MessageNumber(run: MessageNumber.highestRun, sequence: 8))
        #expect(UInt64(number, byteCount: 8).number == number)
    }

    /// - Returns: how many arrived for the first time.
    @discardableResult
    private static func take(_ numbers: [UInt64], _ counter: inout SequenceCounter) -> Int {
        numbers.reduce(0) { $0 + (counter.take($1) ? 1 : 0) }
    }
}
