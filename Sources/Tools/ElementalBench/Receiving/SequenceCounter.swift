/// Counts the numbered messages of one run: received, duplicate and late ones.
///
/// It keeps the missing numbers as ranges, so that messages in order cost an addition and a run of any length takes
/// little memory. Beyond ``capacity`` ranges it drops the oldest: their messages stay lost.
struct SequenceCounter: Sendable {
    static let capacity = 4096

    /// The number after the highest received one.
    private(set) var next: UInt64 = 0
    private(set) var missingCount: UInt64 = 0
    /// Duplicate messages.
    private(set) var repeated = 0
    /// Messages that arrived after a later one.
    private(set) var disordered = 0
    /// In ascending order, none empty, none adjacent.
    private var missing: [Range<UInt64>] = []

    /// Messages that arrived, each counted once.
    var count: UInt64 { next - missingCount }

    /// Records the number of a message.
    ///
    /// - Returns: whether it is the message's first arrival.
    @discardableResult
    mutating func take(_ number: UInt64) -> Bool {
        if number < next { return takeLate(number) }
        if number > next { miss(next..<number) }
        next = number + 1
        return true
    }

    /// Records that all numbers before this one arrived in order.
    mutating func advance(to number: UInt64) {
        if number > next { next = number }
    }

    private mutating func miss(_ range: Range<UInt64>) {
        if missing.count >= Self.capacity { missing.removeFirst(Self.capacity / 2) }
        missing.append(range)
        missingCount += UInt64(range.count)
    }

    private mutating func takeLate(_ number: UInt64) -> Bool {
        // Late messages are usually only a little late, so the search begins at the end.
        guard let position = missing.lastIndex(where: { $0.lowerBound <= number }), missing[position].contains(number)
        else {
            repeated += 1
            return false
        }
        let range = missing[position]
        let parts = [range.lowerBound..<number, number + 1..<range.upperBound].filter { !$0.isEmpty }
        missing.replaceSubrange(position...position, with: parts)
        missingCount -= 1
        disordered += 1
        return true
    }
}
