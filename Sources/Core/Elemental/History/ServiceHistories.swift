import ElementalWire
import Support

/// The histories of a service's elements.
final class ServiceHistories: Sendable {
    /// The most bytes of all histories of a service.
    static let maximumByteCount = 64 << 20

    /// A class, so that a value is added without copying anything else.
    // Unchecked because the lock of its histories guards it.
    private final class Entry: @unchecked Sendable {
        let element: ElementDefinition
        var log: HistoryLog
        /// Called when there is a new value, once each.
        var waiters: [ObjectIdentifier: @Sendable () -> Void] = [:]

        init(_ element: ElementDefinition, _ limits: HistoryLimits) {
            self.element = element
            log = HistoryLog(limits)
        }
    }

    private struct State {
        /// By identifier; empty while no element has a history.
        var entries: [Entry?] = []
        var byteCount = 0

        /// The element's history; `nil` if there is none, or if it belongs to another element of that identifier.
        func entry(_ element: ElementDefinition) -> Entry? {
            guard !entries.isEmpty, let known = entries[Int(element.id)] else { return nil }
            return known.element === element || known.element.keepsTheSame(as: element) ? known : nil
        }

        /// Begins a history. One of another element ends.
        mutating func begin(_ element: ElementDefinition, _ limits: HistoryLimits) -> Entry {
            if entries.isEmpty { entries = Array(repeating: nil, count: Int(Int8.max) + 1) }
            byteCount -= entries[Int(element.id)]?.log.byteCount ?? 0
            let entry = Entry(element, limits)
            entries[Int(element.id)] = entry
            return entry
        }

        /// Drops the oldest values of the longest history while all together are too long.
        mutating func trim() {
            while byteCount > ServiceHistories.maximumByteCount {
                let longest = entries.compactMap(\.self).sorted { $0.log.byteCount > $1.log.byteCount }
                guard let first = longest.first else { return }
                let other = longest.dropFirst().first?.log.byteCount ?? 0
                repeat {
                    let before = first.log.byteCount
                    first.log.dropOldest()
                    byteCount += first.log.byteCount - before
                } while byteCount > ServiceHistories.maximumByteCount && first.log.byteCount >= max(other, 1)
            }
        }
    }

    private let state = Locked(State())
    /// Microseconds of a monotonic clock.
    private let clock: @Sendable () -> Int64

    init(clock: @escaping @Sendable () -> Int64 = { MeasurementTime.now.microseconds }) { self.clock = clock }

    /// The bytes of all values that are kept, with their headers.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Keeps a value.
    ///
    /// - Parameters:
    ///   - time: when it was measured; `nil` for now.
    ///   - now: this moment, if the caller knows it.
    func append(
        _ element: ElementDefinition, _ limits: HistoryLimits, _ value: UnsafeRawBufferPointer,
        at time: MeasurementTime?, now: MeasurementTime? = nil
    ) {
        let now = now?.microseconds ?? clock()
        let waiters: [ObjectIdentifier: @Sendable () -> Void]? = state.withLock { state in
            let entry = state.entry(element) ?? state.begin(element, limits)
            let before = entry.log.byteCount
            entry.log.append(value, at: time?.microseconds ?? now, now: now / 1000)
            state.byteCount += entry.log.byteCount - before
            if state.byteCount > Self.maximumByteCount { state.trim() }
            if entry.waiters.isEmpty { return nil }
            defer { entry.waiters = [:] }
            return entry.waiters
        }
        if let waiters { for waiter in waiters.values { waiter() } }
    }

    /// The answer to a request; `nil` if it waits for a value.
    ///
    /// - Parameters:
    ///   - owner: whose request it is. It has one waiter for an element.
    ///   - wake: called on any thread when the element has a value.
    func answer(
        _ request: HistoryRequest, _ element: ElementDefinition, for owner: ObjectIdentifier,
        wake: @escaping @Sendable () -> Void
    ) -> [UInt8]? {
        let refusal = HistoryAnswer.refusal(.unknown, token: request.token)
        guard let limits = element.history else { return refusal }
        let now = clock() / 1000
        return state.withLock { state in
            // An old connection does not end the history of an element that is another by now.
            let isNew = state.entries.isEmpty || state.entries[Int(element.id)] == nil
            guard let entry = isNew ? state.begin(element, limits) : state.entry(element) else { return refusal }
            let before = entry.log.byteCount
            entry.log.trim(now: now)
            state.byteCount += entry.log.byteCount - before
            if request.waits, request.start == .position(entry.log.end) {
                entry.waiters[owner] = wake
                return nil
            }
            // A client with a position of another life gets all that there is.
            let start = entry.log.number(behind: request.start) ?? entry.log.oldest
            return entry.log.answer(request.token, from: start).wireBytes
        }
    }

    /// Forgets the waiters of a connection that has ended.
    func forget(_ owner: ObjectIdentifier) {
        state.withLock { state in for entry in state.entries { entry?.waiters[owner] = nil } }
    }

    /// Forgets the histories of elements that are not in the catalogue, or are others there.
    func keepOnly(_ elements: ElementCatalogue) {
        state.withLock { state in
            for (id, entry) in state.entries.enumerated() {
                guard let entry, elements[id: Int8(id)]?.keepsTheSame(as: entry.element) != true else { continue }
                state.byteCount -= entry.log.byteCount
                state.entries[id] = nil
            }
        }
    }
}

extension ElementDefinition {
    /// Whether values of both may be in one history. A client's role limits what it sees of the access.
    fileprivate func keepsTheSame(as other: ElementDefinition) -> Bool {
        (type, name, readers, history) == (other.type, other.name, other.readers, other.history)
    }
}
