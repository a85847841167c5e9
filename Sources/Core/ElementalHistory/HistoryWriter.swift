internal import ElementalSecurity
internal import ElementalWire
import Support

/// Writes a service's histories into files, on a dedicated thread.
///
/// Values are collected for a moment and written together. They are synced once in an interval, or earlier when they
/// arrive faster than ever before. While no values arrive, the writer does nothing.
final class HistoryWriter: Sendable {
    /// How long a value waits for others.
    private static let delay = Duration.milliseconds(200)

    /// The histories that are written.
    struct Source: Sendable {
        /// The number of the next value of each history.
        let ends: @Sendable () -> [ServiceHistories.Key: UInt64]
        /// The values of a history from a number on.
        let values: @Sendable (ServiceHistories.Key, UInt64) -> UnwrittenValues?
    }

    private struct State {
        /// Whether a write of values is scheduled.
        var isArmed = false
        /// Whether a sync or a retry is scheduled. Values do not wait for it.
        var isArmedForLater = false
        var source: Source?
        var failureHandler: (@Sendable (SecurityError?) -> Void)?
        var failure: SecurityError?
    }

    /// The state that belongs to the thread.
    // Unchecked because only work on the thread touches it, one piece at a time.
    private final class OnThread: @unchecked Sendable {
        var folder: HistoryFolder
        /// The lives whose beginning could not be written yet.
        var lives: [HistoryBeginningLife] = []
        /// The number of the next value of each element.
        var next: [ServiceHistories.Key: UInt64] = [:]
        var lastSync: ContinuousClock.Instant?
        var nextTry: ContinuousClock.Instant?

        init(_ folder: consuming HistoryFolder) { self.folder = folder }
    }

    private let state = Locked(State())
    private let thread: any HistoryThread
    private let onThread: OnThread
    private let interval: Duration
    private let retryInterval: Duration

    /// Opens the folder of a service and reads it.
    static func open(
        _ path: String, interval: Duration, retryInterval: Duration, _ clock: HistoryClock, on thread: any HistoryThread
    ) async throws(SecurityError) -> (HistoryWriter, [ServiceHistories.Key: HistoryLog]) {
        typealias Opened = Result<(OnThread, [ServiceHistories.Key: HistoryLog]), SecurityError>
        let opened: Opened = await withCheckedContinuation { continuation in
            thread.submit {
                continuation.resume(
                    returning: Opened { () throws(SecurityError) in
                        var folder = try HistoryFolder(path, clock)
                        let logs = try folder.read()
                        return (OnThread(folder), logs)
                    })
            }
        }
        do throws(SecurityError) {
            let (onThread, logs) = try opened.get()
            return (HistoryWriter(thread, onThread, interval, retryInterval), logs)
        } catch {
            thread.end()
            throw error
        }
    }

    private init(_ thread: any HistoryThread, _ onThread: OnThread, _ interval: Duration, _ retryInterval: Duration) {
        (self.thread, self.onThread, self.interval, self.retryInterval) = (thread, onThread, interval, retryInterval)
    }

    deinit { thread.end() }

    func use(_ source: Source) { state.withLock { $0.source = source } }

    func onFailure(_ handler: @escaping @Sendable (SecurityError?) -> Void) {
        let failure = state.withLock { state in
            state.failureHandler = handler
            return state.failure
        }
        if let failure { handler(failure) }
    }

    /// Schedules a write of new values.
    func wake() { arm(\.isArmed, in: Self.delay) }

    /// Schedules a run, unless one is scheduled.
    private func arm(_ flag: WritableKeyPath<State, Bool> & Sendable, in delay: Duration) {
        let mustArm = state.withLock { state in
            defer { state[keyPath: flag] = true }
            return !state[keyPath: flag]
        }
        guard mustArm else { return }
        thread.submit(in: delay) { [weak self] in
            self?.state.withLock { $0[keyPath: flag] = false }
            self?.run()
        }
    }

    /// Writes everything and waits until it is synced.
    ///
    /// - Returns: the failure, if any.
    func finish() async -> SecurityError? {
        await withCheckedContinuation { continuation in
            thread.submit { continuation.resume(returning: self.write(isEnd: true, mustSynchronise: true)) }
        }
    }

    /// Begins the lives of histories, or resumes those that had ended, and waits until they are synced.
    func begin(_ lives: [HistoryBeginningLife]) async {
        await withCheckedContinuation { continuation in
            thread.submit {
                self.onThread.lives = lives
                self.write(mustSynchronise: true)
                self.plan()
                continuation.resume()
            }
        }
    }

    // MARK: On the thread

    private func run() {
        let now = ContinuousClock.now
        if let time = onThread.nextTry, time > now { return again(in: time - now) }
        write()
        plan()
    }

    /// Schedules a retry or the next sync, if one is needed.
    private func plan() {
        let now = ContinuousClock.now
        if let time = onThread.nextTry {
            again(in: time - now)
        } else if onThread.folder.hasChanges, let last = onThread.lastSync {
            again(in: last + interval - now)
        }
    }

    /// Schedules a sync or a retry, which needs no value.
    private func again(in delay: Duration) { arm(\.isArmedForLater, in: max(delay, Self.delay)) }

    @discardableResult
    private func write(isEnd: Bool = false, mustSynchronise: Bool = false) -> SecurityError? {
        var failure: SecurityError?
        // A failure of one step does not stop the others.
        let steps: [() throws(SecurityError) -> Void] = [beginLives, writeValues]
        for step in steps {
            do throws(SecurityError) {
                try step()
            } catch {
                failure = failure ?? error
            }
        }
        do throws(SecurityError) {
            let now = ContinuousClock.now
            let isTime = onThread.lastSync.map { now - $0 >= interval } ?? true
            if mustSynchronise || isTime && onThread.folder.hasChanges || onThread.folder.mustSynchronise {
                onThread.lastSync = now
                try onThread.folder.synchronise(isEnd: isEnd && failure == nil)
            }
        } catch {
            failure = failure ?? error
        }
        settle(failure)
        return failure
    }

    /// Reports a failure and schedules a retry.
    private func settle(_ failure: SecurityError?) {
        onThread.folder.note(isBounded: failure == nil)
        onThread.nextTry = failure.map { _ in ContinuousClock.now + retryInterval }
        report(failure)
    }

    /// Begins the pending lives. Those that fail are retried by the next run.
    private func beginLives() throws(SecurityError) {
        var failure: SecurityError?
        onThread.lives.removeAll { life in
            do throws(SecurityError) {
                try onThread.folder.begin(life)
                return true
            } catch {
                failure = failure ?? error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Writes the values that exist now; later ones are written by the next run.
    private func writeValues() throws(SecurityError) {
        guard let source = state.withLock({ $0.source }) else { return }
        let ends = source.ends()
        // Forgets old elements, because a service may replace its elements often.
        if onThread.next.count > ends.count { onThread.next = onThread.next.filter { ends[$0.key] != nil } }
        var failure: SecurityError?
        for (key, end) in ends {
            do throws(SecurityError) {
                while onThread.next[key] ?? 0 < end, let values = source.values(key, onThread.next[key] ?? 0) {
                    try onThread.folder.write(values)
                    onThread.next[key] = values.records.end
                }
            } catch {
                // Still write the values of the other elements.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func report(_ failure: SecurityError?) {
        let handler = state.withLock { state in
            defer { state.failure = failure }
            return state.failure?.code == failure?.code ? nil : state.failureHandler
        }
        handler?(failure)
    }
}
