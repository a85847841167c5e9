import Elemental

/// Decides whether a wait for values continues: each window of time must bring enough progress.
///
/// Only the awaited values count, each until it is complete, and each byte counts once. A window must bring 1/64 of a
/// value or 64 KiB, whichever is less, which bounds the number of windows a value can take.
struct TransferWait {
    private struct Value {
        var byteCount = 0
        /// The byte count when the window began.
        var mark = 0
        var totalByteCount = 0
    }

    private let direction: TransferProgress.Direction
    /// How many values of each element are still awaited.
    private var awaited: [Int8: Int]
    private var inProgress: [Int8: Value] = [:]
    /// Whether a value was completed in this window.
    private var hasCompleted = false

    /// - Parameter elements: the element of each awaited value; twice for two values of one element.
    init(for elements: [Int8], _ direction: TransferProgress.Direction) {
        self.direction = direction
        awaited = Dictionary(elements.map { ($0, 1) }, uniquingKeysWith: +)
    }

    /// The least progress of a value in a window that counts.
    static func leastByteCount(of totalByteCount: Int) -> Int { max(1, min(totalByteCount / 64, 64 * 1024)) }

    mutating func note(_ progress: TransferProgress) {
        let id = progress.element.id
        guard progress.direction == direction, let count = awaited[id], count > 0 else { return }
        if progress.byteCount >= progress.totalByteCount {
            awaited[id] = count - 1
            inProgress[id] = nil
            hasCompleted = true
        } else {
            var value = inProgress[id] ?? Value()
            value.totalByteCount = progress.totalByteCount
            // A value that starts again after a reconnection makes no progress until it is past where it was.
            value.byteCount = max(value.byteCount, progress.byteCount)
            inProgress[id] = value
        }
    }

    /// Ends the window, and returns whether it brought enough progress for another one.
    mutating func endWindow() -> Bool {
        var isEnough = hasCompleted
        hasCompleted = false
        inProgress = inProgress.mapValues { value in
            if value.byteCount - value.mark >= Self.leastByteCount(of: value.totalByteCount) { isEnough = true }
            var value = value
            value.mark = value.byteCount
            return value
        }
        return isEnough
    }

    func amount(of id: Int8) -> String? {
        inProgress[id].map { "\($0.byteCount) of \($0.totalByteCount) bytes" }
    }
}
