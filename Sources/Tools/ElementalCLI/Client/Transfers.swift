import Elemental
import ElementalFollowing
import Support

/// Follows the large values on a connection: shows their progress, and detects that they make none.
///
/// A terminal shows a bar, and JSON output has an event now and then. If standard error is a file, nothing is shown.
struct Transfers: Sendable {
    /// The minimum time between two reports, except for the last report of a value.
    private static let interval: Duration = .milliseconds(100)

    private struct State {
        var wait: TransferWait?
        var start: [Int8: ContinuousClock.Instant] = [:]
        var lastReport: ContinuousClock.Instant?
    }

    let console: Console
    let showsIncoming: Bool
    private let state = Locked(State())

    /// Whether a large value is being sent or received whose progress is shown.
    var isAnyUnderWay: Bool { state.withLock { !$0.start.isEmpty } }

    /// Subscribes to the device's progress. Call this before the first value can arrive.
    func follow(_ device: ElementalDevice) {
        device.onProgress { [self] progress, device in report(progress, device) }
    }

    /// Runs `body` for `limit`, extended by `limit` each time the awaited values made enough progress by
    /// ``TransferWait``'s rule; then cancels it.
    ///
    /// - Returns: `nil` if `body` ended by itself; otherwise the wait, which contains how much of each value arrived.
    @discardableResult
    func limit(
        to limit: Duration, for elements: [Int8], _ direction: TransferProgress.Direction,
        _ body: @escaping @Sendable () async throws -> Void
    ) async rethrows -> TransferWait? {
        state.withLock { $0.wait = TransferWait(for: elements, direction) }
        defer {
            state.withLock { $0.wait = nil }
            console.show(status: nil)
        }
        return try await withThrowingTaskGroup(of: TransferWait?.self) { group in
            group.addTask {
                try await body()
                return nil
            }
            group.addTask { [state] in
                while true {
                    await Delay.wait(limit)
                    let (wait, continues) = state.withLock { state in (state.wait, state.wait?.endWindow() == true) }
                    if Task.isCancelled || !continues { return wait }
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func report(_ progress: TransferProgress, _ device: ElementalDevice) {
        let now = ContinuousClock.now
        let isComplete = progress.byteCount == progress.totalByteCount
        let elapsed: Duration? = state.withLock { state in
            state.wait?.note(progress)
            guard showsIncoming || progress.direction == .outgoing else { return nil }
            let start = state.start[progress.element.id] ?? now
            state.start[progress.element.id] = isComplete ? nil : start
            if let last = state.lastReport, !isComplete, now - last < Self.interval { return nil }
            state.lastReport = now
            return now - start
        }
        guard let elapsed else { return }
        if console.isJSON {
            console.offer(.progress(device.key, progress))
        } else {
            console.show(status: isComplete ? nil : ProgressLine(progress: progress, elapsed: elapsed))
        }
    }
}

extension ConsoleEvent where Self == Notice {
    static func progress(_ key: ServiceKey, _ progress: TransferProgress) -> Notice {
        Notice(
            "progress",
            JSONText.members(key) + [
                ("element", .string(progress.element.name)), ("incoming", .bool(progress.direction == .incoming)),
                ("byteCount", .integer(progress.byteCount)), ("totalByteCount", .integer(progress.totalByteCount)),
            ], "\(progress.element.name): \(progress.byteCount) of \(progress.totalByteCount) bytes")
    }
}

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

    /// The minimum progress that a value must make in a window, in bytes.
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

    func amount(of id: Int8) -> String? { inProgress[id].map { "\($0.byteCount) of \($0.totalByteCount) bytes" } }
}
