import Elemental

/// The large values on their way over a connection: shows how far they are, and knows whether they move.
///
/// A terminal has a bar, JSON a line now and then; where standard error goes to a file, nothing is said.
final class Transfers: Sendable {
    /// The shortest time between two reports of a value, but for its last.
    private static let interval: Duration = .milliseconds(100)

    private struct State {
        /// What is waited for.
        var wait: TransferWait?
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

    /// Runs `body` for `limit`, and for as long again whenever the values that are waited for came on in that time, by as
    /// much as ``TransferWait`` asks for; then cancels it.
    ///
    /// - Parameter elements: the identifier of each value that is waited for.
    /// - Returns: `nil` if it ended by itself; otherwise what was waited for, with how far it is.
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
                    let (wait, goesOn) = state.withLock { state in (state.wait, state.wait?.endWindow() == true) }
                    if Task.isCancelled || !goesOn { return wait }
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func tell(_ progress: TransferProgress, _ device: ElementalDevice) {
        let now = ContinuousClock.now
        let isWhole = progress.byteCount == progress.totalByteCount
        let elapsed: Duration? = state.withLock { state in
            state.wait?.note(progress)
            guard showsIncoming || progress.direction == .outgoing else { return nil }
            let start = state.start[progress.element.id] ?? now
            state.start[progress.element.id] = isWhole ? nil : start
            if let told = state.told, !isWhole, now - told < Self.interval { return nil }
            state.told = now
            return now - start
        }
        guard let elapsed else { return }
        if console.isJSON {
            console.offer(.progress(progress, device: device.name))
        } else {
            console.show(status: isWhole ? nil : ProgressLine(progress: progress, elapsed: elapsed))
        }
    }
}
