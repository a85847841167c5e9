import Elemental

/// Whether a wait for values may go on: each window of time has to bring enough of them.
///
/// Only the values that are waited for count, each until it is whole, and a byte counts once. A window has to bring
/// 1/64 of a value or 64 KiB, whichever is less, so that no value takes more windows than that allows.
struct TransferWait {
    private struct Value {
        var byteCount = 0
        /// What had come when the window began.
        var mark = 0
        var totalByteCount = 0
    }

    private let direction: TransferProgress.Direction
    /// How many values of each element are still waited for.
    private var awaited: [Int8: Int]
    private var underWay: [Int8: Value] = [:]
    private var hasWhole = false

    /// - Parameter elements: the identifier of each value that is waited for; twice for two values of an element.
    init(for elements: [Int8], _ direction: TransferProgress.Direction) {
        self.direction = direction
        awaited = Dictionary(elements.map { ($0, 1) }, uniquingKeysWith: +)
    }

    /// The least that a window has to bring of a value.
    static func leastByteCount(of totalByteCount: Int) -> Int { max(1, min(totalByteCount / 64, 64 * 1024)) }

    mutating func note(_ progress: TransferProgress) {
        let id = progress.element.id
        guard progress.direction == direction, let count = awaited[id], count > 0 else { return }
        if progress.byteCount >= progress.totalByteCount {
            awaited[id] = count - 1
            underWay[id] = nil
            hasWhole = true
        } else {
            var value = underWay[id] ?? Value()
            value.totalByteCount = progress.totalByteCount
            // What comes a second time is no progress.
            value.byteCount = max(value.byteCount, progress.byteCount)
            underWay[id] = value
        }
    }

    /// The window is over.
    ///
    /// - Returns: whether it brought enough for another one.
    mutating func endWindow() -> Bool {
        var isEnough = hasWhole
        hasWhole = false
        underWay = underWay.mapValues { value in
            if value.byteCount - value.mark >= Self.leastByteCount(of: value.totalByteCount) { isEnough = true }
            var value = value
            value.mark = value.byteCount
            return value
        }
        return isEnough
    }

    /// Of a value that has begun and is not whole, how much there is, in words.
    func amount(of id: Int8) -> String? {
        underWay[id].map { "\($0.byteCount) of \($0.totalByteCount) bytes" }
    }
}
