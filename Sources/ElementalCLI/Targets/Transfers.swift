import Elemental

/// The large values on their way over a connection: shows how far they are, and knows whether they move.
///
/// A terminal has a bar, JSON a line now and then; where standard error goes to a file, nothing is said.
final class Transfers: Sendable {
    /// The shortest time between two reports of a value, but for its last.
    private static let interval: Duration = .milliseconds(100)

    private struct State {
        /// Parts that came or were taken.
        var moves = 0
        var start: [Int8: ContinuousClock.Instant] = [:]
        var told: ContinuousClock.Instant?
    }

    private let console: Console
    private let showsIncoming: Bool
    private let state = Locked(State())

    init(_ console: Console, showsIncoming: Bool) {
        self.console = console
        self.showsIncoming = showsIncoming
    }

    /// Takes part in what the device tells. To be called before the first value can come.
    func follow(_ device: ElementalDevice) {
        device.onProgress { [self] progress, device in tell(progress, device) }
    }

    /// Runs `body` until nothing has moved for `limit`, then cancels it.
    ///
    /// Where nothing large is on its way that is after `limit`.
    /// - Returns: whether it ended by itself.
    @discardableResult
    func limit(
        toStillnessOf limit: Duration, _ body: @escaping @Sendable () async throws -> Void
    ) async rethrows -> Bool {
        defer { console.show(status: nil) }
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await body()
                return true
            }
            group.addTask { [state] in
                var seen = -1
                while !Task.isCancelled {
                    let moves = state.withLock { $0.moves }
                    if moves == seen { break }
                    seen = moves
                    await Delay.wait(limit)
                }
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    private func tell(_ progress: TransferProgress, _ device: ElementalDevice) {
        let now = ContinuousClock.now
        let isWhole = progress.byteCount == progress.totalByteCount
        let elapsed: Duration? = state.withLock { state in
            state.moves += 1
            guard showsIncoming || progress.direction == .outgoing else { return nil }
            let start = state.start[progress.element.id] ?? now
            state.start[progress.element.id] = isWhole ? nil : start
            if let told = state.told, !isWhole, now - told < Self.interval { return nil }
            state.told = now
            return now - start
        }
        guard let elapsed else { return }
        if console.isJSON {
            console.emit(.progress(progress, device: device.name))
        } else {
            console.show(status: isWhole ? nil : ProgressLine(progress: progress, elapsed: elapsed))
        }
    }
}
