import Dispatch
import Support

/// What one peer of a test has said so far, in order: the lines of a process, the messages of a page, the calls of a handler.
///
/// A wait takes the first entry that matches and that no other wait has taken, and leaves all others for later waits: two
/// things that happen independently may be reported in either order. Where the behaviour promises an order, the test asks
/// for an entry `after` the one that it took before.
public final class Transcript<Entry: Sendable>: Sendable {
    struct Missing: Error {
        let description: String
    }

    private struct Waiter {
        let id: Int
        let place: TranscriptPlace
        let takes: Bool
        let isWanted: @Sendable (Entry) -> Bool
        let continuation: CheckedContinuation<(entry: Entry, place: TranscriptPlace), any Error>
    }

    private struct State {
        var entries: [Entry] = []
        var times: [ContinuousClock.Instant] = []
        var isTaken: [Bool] = []
        /// All entries before this index are taken.
        var firstLeft = 0
        var isAtEnd = false
        var waiters: [Waiter] = []
        var lastWaiter = 0

        mutating func take(_ index: Int) {
            isTaken[index] = true
            while firstLeft < isTaken.count, isTaken[firstLeft] { firstLeft += 1 }
        }

        mutating func remove(_ id: Int) -> Waiter? {
            waiters.firstIndex { $0.id == id }.map { waiters.remove(at: $0) }
        }
    }

    private let state = Locked(State())
    private let describe: @Sendable (Entry) -> String

    /// - Parameter describe: how an entry is shown in the message of a wait that fails.
    public init(
        of type: Entry.Type = Entry.self, describe: @escaping @Sendable (Entry) -> String = { "\($0)" }
    ) {
        self.describe = describe
    }

    public func add(_ entry: Entry) {
        state.withLock { state in
            let index = state.entries.count
            state.entries.append(entry)
            state.times.append(.now)
            state.isTaken.append(false)
            let waiters = state.waiters
            state.waiters = []
            for waiter in waiters {
                guard index > waiter.place.index, !(waiter.takes && state.isTaken[index]), waiter.isWanted(entry) else {
                    state.waiters.append(waiter)
                    continue
                }
                if waiter.takes { state.take(index) }
                waiter.continuation.resume(returning: (entry, TranscriptPlace(index: index)))
            }
        }
    }

    /// Says that no entry will follow. Waits that are under way fail.
    public func end() {
        state.withLock { state in
            state.isAtEnd = true
            for waiter in state.waiters {
                waiter.continuation.resume(throwing: Missing(description: "did not come before the end"))
            }
            state.waiters = []
        }
    }

    /// All entries so far, those that were taken included.
    public var all: [Entry] { state.withLock { $0.entries } }
    public var count: Int { state.withLock { $0.entries.count } }
    public var isAtEnd: Bool { state.withLock { $0.isAtEnd } }
    public var place: TranscriptPlace { state.withLock { TranscriptPlace(index: $0.entries.count - 1) } }

    /// All entries with their times, for merging with those of another transcript.
    var lines: [(time: ContinuousClock.Instant, text: String)] {
        state.withLock { Array(zip($0.times, $0.entries)) }.map { ($0, describe($1)) }
    }

    /// Takes the first entry that matches out of those that no wait has taken, or waits for one.
    ///
    /// - Parameters:
    ///   - what: what the entry is called if it does not come.
    ///   - after: where the search begins; at the first entry if `nil`.
    /// - Throws: all entries and their times, if none comes in time, before the end, or before the test is cancelled.
    @discardableResult
    public func next(
        _ what: String = "the next entry", after place: TranscriptPlace? = nil,
        within timeout: Duration = Patience.wait,
        fileID: String = #fileID, line: Int = #line, where isWanted: @escaping @Sendable (Entry) -> Bool = { _ in true }
    ) async throws -> Entry {
        do {
            return try await find(after: place, within: timeout, where: isWanted).entry
        } catch {
            throw TestSupportError("\(fileID):\(line): \(what) \(error.description)\n\(TranscriptPlace.text(lines))")
        }
    }

    /// Waits until there are at least this many entries, and takes none.
    public func wait(for count: Int, fileID: String = #fileID, line: Int = #line) async throws {
        guard count > 0 else { return }
        let place = TranscriptPlace(index: count - 2)
        do {
            _ = try await find(after: place, within: Patience.wait, takes: false) { _ in true }
        } catch {
            throw TestSupportError(
                "\(fileID):\(line): entry \(count) \(error.description)\n\(TranscriptPlace.text(lines))")
        }
    }

    /// - Parameter takes: whether the entry is taken; otherwise it may be one that another wait took.
    func find(
        after place: TranscriptPlace?, within timeout: Duration, takes: Bool = true,
        where isWanted: @escaping @Sendable (Entry) -> Bool
    ) async throws(Missing) -> (entry: Entry, place: TranscriptPlace) {
        let place = place ?? .start
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    enqueue(
                        Waiter(id: id, place: place, takes: takes, isWanted: isWanted, continuation: continuation))
                    guard !Task.isCancelled else { return fail(id, "did not come before the test was cancelled") }
                    Waits.queue.asyncAfter(deadline: .now() + timeout.seconds) { [weak self] in
                        self?.fail(id, "did not come within \(timeout)")
                    }
                }
            } onCancel: {
                fail(id, "did not come before the test was cancelled")
            }
        } catch {
            throw error as? Missing ?? Missing(description: "\(error)")
        }
    }

    /// Resumes a waiter whose entry is there or can no longer come, and keeps others for later.
    private func enqueue(_ waiter: Waiter) {
        state.withLock { state in
            let start = max(waiter.place.index + 1, waiter.takes ? state.firstLeft : 0)
            for index in state.entries.indices.dropFirst(start)
            where !(waiter.takes && state.isTaken[index]) && waiter.isWanted(state.entries[index]) {
                if waiter.takes { state.take(index) }
                return waiter.continuation.resume(
                    returning: (state.entries[index], TranscriptPlace(index: index)))
            }
            if state.isAtEnd {
                waiter.continuation.resume(throwing: Missing(description: "did not come before the end"))
            } else {
                state.waiters.append(waiter)
            }
        }
    }

    private func fail(_ id: Int, _ description: String) {
        state.withLock { $0.remove(id) }?.continuation.resume(throwing: Missing(description: description))
    }
}

/// Where an entry stands in its transcript.
public struct TranscriptPlace: Comparable, Sendable {
    fileprivate let index: Int

    public static let start = TranscriptPlace(index: -1)

    public static func < (one: Self, other: Self) -> Bool { one.index < other.index }

    /// Lines with their times in seconds since the first one. Of thousands of lines the middle is left out.
    static func text(_ lines: [(time: ContinuousClock.Instant, text: String)]) -> String {
        guard let first = lines.first?.time else { return "(nothing was said)" }
        var texts = lines.map { line in
            let time = String(((line.time - first).seconds * 1000).rounded() / 1000)
            return "\(time) \(line.text.prefix(2000))"
        }
        if texts.count > 1200 { texts[400..<(texts.count - 800)] = ["… \(texts.count - 1200) lines …"] }
        return texts.joined(separator: "\n")
    }
}

/// The queue of all time limits, which has nothing else to do.
enum Waits {
    static let queue = DispatchQueue(label: "time limits of waits")
}
