internal import ElementalSecurity
internal import ElementalWire
import Support

/// Writes a service's histories into files, on a thread of its own.
///
/// Values are written a moment after they came, all that came meanwhile at once, and forced onto the disk once in an interval, or
/// earlier when more come than ever before. While no values come it does nothing.
final class HistoryWriter: Sendable {
    /// How long a value waits for others.
    private static let delay = Duration.milliseconds(200)

    /// The histories that are written.
    struct Source: Sendable {
        /// The number of the next value of each.
        let ends: @Sendable () -> [ServiceHistories.Key: UInt64]
        /// Values from that number on.
        let values: @Sendable (ServiceHistories.Key, UInt64) -> UnwrittenValues?
    }

    private struct State {
        /// Whether values will be written in a moment.
        var isArmed = false
        /// Whether something is to be done later, even if no value comes. A value does not wait for that.
        var isArmedForLater = false
        var source: Source?
        var failureHandler: (@Sendable (SecurityError?) -> Void)?
        var failure: SecurityError?
    }

    /// What belongs to the thread.
    // Unchecked because only work that was submitted to the thread touches it, which runs one after the other.
    private final class OnThread: @unchecked Sendable {
        var folder: HistoryFolder
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

    /// - Returns: why that cannot be written. It is tried again with the first values.
    private static func begin(
        _ lives: [HistoryBeginningLife], in folder: inout HistoryFolder
    ) -> SecurityError? {
        var failure: SecurityError?
        for life in lives {
            do throws(SecurityError) {
                try folder.begin(life)
            } catch {
                failure = failure ?? error
            }
        }
        do throws(SecurityError) {
            try folder.synchronise()
        } catch {
            failure = failure ?? error
        }
        return failure
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

    /// There is a value.
    func wake() { arm(\.isArmed, in: Self.delay) }

    /// Does what there is to do after a while, unless that is on its way.
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

    /// Writes everything and waits until it is on the disk.
    ///
    /// - Returns: why it is not.
    func finish() async -> SecurityError? {
        await withCheckedContinuation { continuation in
            thread.submit { continuation.resume(returning: self.write(isEnd: true)) }
        }
    }

    /// Begins the lives of histories, or goes on with those that had ended, and waits until that is on the disk.
    func begin(_ lives: [HistoryBeginningLife]) async {
        await withCheckedContinuation { continuation in
            thread.submit {
                self.settle(Self.begin(lives, in: &self.onThread.folder))
                continuation.resume()
            }
        }
    }

    // MARK: On the thread

    private func run() {
        let now = ContinuousClock.now
        if let time = onThread.nextTry, time > now { return again(in: time - now) }
        write(isEnd: false)
        if let time = onThread.nextTry {
            again(in: time - now)
        } else if onThread.folder.hasChanges, let last = onThread.lastSync {
            again(in: last + interval - now)
        }
    }

    /// Even if no value comes.
    private func again(in delay: Duration) { arm(\.isArmedForLater, in: max(delay, Self.delay)) }

    @discardableResult
    private func write(isEnd: Bool) -> SecurityError? {
        var failure: SecurityError?
        do throws(SecurityError) {
            try writeValues()
        } catch {
            failure = error
        }
        // What was written is not to be lost because other values cannot be.
        do throws(SecurityError) {
            let now = ContinuousClock.now
            let isTime = onThread.lastSync.map { now - $0 >= interval } ?? true
            if isEnd || isTime && onThread.folder.hasChanges || onThread.folder.mustSynchronise {
                onThread.lastSync = now
                try onThread.folder.synchronise(isEnd: isEnd && failure == nil)
            }
        } catch {
            failure = failure ?? error
        }
        settle(failure)
        return failure
    }

    /// Tells what cannot be written, and tries again later.
    private func settle(_ failure: SecurityError?) {
        onThread.folder.note(isBounded: failure == nil)
        onThread.nextTry = failure.map { _ in ContinuousClock.now + retryInterval }
        report(failure)
    }

    /// Those that there are now: the ones that come meanwhile are written later.
    private func writeValues() throws(SecurityError) {
        guard let source = state.withLock({ $0.source }) else { return }
        let ends = source.ends()
        // A service may have other elements again and again.
        if onThread.next.count > ends.count { onThread.next = onThread.next.filter { ends[$0.key] != nil } }
        var failure: SecurityError?
        for (key, end) in ends {
            do throws(SecurityError) {
                while onThread.next[key] ?? 0 < end, let values = source.values(key, onThread.next[key] ?? 0) {
                    try onThread.folder.write(values)
                    onThread.next[key] = values.records.end
                }
            } catch {
                // Those of others are written.
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
