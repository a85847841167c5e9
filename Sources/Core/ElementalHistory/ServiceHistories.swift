package import ElementalSecurity
package import ElementalWire
import Support

/// The histories of a service's elements: in memory, or also in files, which outlast the service's program.
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// configuration.histories = try await ServiceHistories(inFilesOf: "weather", for: Weather.all)
/// ```
public final class ServiceHistories: Sendable {
    /// The maximum size of all histories of a service, in memory and in files, in bytes.
    package static let maximumByteCount = 64 << 20
    /// The maximum number of histories that are kept for elements that the service does not have.
    private static let maximumOtherCount = 512

    /// The identity of a history: elements that differ in it have separate histories. Their limits may change.
    package struct Key: Hashable {
        let id: Int8
        let type: ElementType
        let name: String
        let readers: Role
    }

    private struct Entry {
        let key: Key
        var log: HistoryLog
        /// Called once, with the next new value.
        var waiters: [ObjectIdentifier: @Sendable () -> Void] = [:]

        mutating func takeWaiters() -> [ObjectIdentifier: @Sendable () -> Void] {
            if waiters.isEmpty { return [:] }
            defer { waiters = [:] }
            return waiters
        }

        /// - Returns: the result, and by how many bytes the history grew.
        mutating func change<Result>(_ body: (inout Entry) -> Result) -> (result: Result, byteCount: Int) {
            let before = log.byteCount
            let result = body(&self)
            return (result, log.byteCount - before)
        }
    }

    private struct State {
        /// By identifier; empty while no element has a history.
        var entries: [Entry?] = []
        var byteCount = 0
        /// Histories in files whose elements the service does not have, or not yet.
        var others: [Key: HistoryLog] = [:]
        var isInFiles = false

        /// Whether this element has a history, and not another element with its identifier.
        func has(_ key: Key) -> Bool { !entries.isEmpty && entries[Int(key.id)]?.key == key }

        /// Begins a history, and ends that of another element with the same identifier.
        mutating func begin(_ key: Key, _ limits: HistoryLimits, now: Int64) {
            if entries.isEmpty { entries = Array(repeating: nil, count: Int(Int8.max) + 1) }
            forget(Int(key.id))
            entries[Int(key.id)] = Entry(key: key, log: others.removeValue(forKey: key) ?? HistoryLog(limits))
            change(key.id) { entry in
                entry.log.limits = limits
                entry.log.trim(now: now)
            }
        }

        /// Ends the history of an element that the service no longer has.
        mutating func forget(_ id: Int) {
            guard let entry = entries[id] else { return }
            entries[id] = nil
            byteCount -= entry.log.byteCount
            // If the element comes back, its numbers continue.
            if isInFiles { restore(entry.key, entry.log) }
        }

        mutating func restore(_ key: Key, _ log: HistoryLog) {
            guard others.count < ServiceHistories.maximumOtherCount else { return }
            others[key] = log
            byteCount += log.byteCount
        }

        /// All histories, including those of elements that the service does not have.
        var logs: [(key: Key, log: HistoryLog)] {
            entries.compactMap { $0.map { ($0.key, $0.log) } } + others.map { ($0, $1) }
        }

        func log(_ key: Key) -> HistoryLog? { has(key) ? entries[Int(key.id)]?.log : others[key] }

        @discardableResult
        mutating func change<Result>(_ id: Int8, _ body: (inout Entry) -> Result) -> Result? {
            guard !entries.isEmpty, let changed = entries[Int(id)]?.change(body) else { return nil }
            byteCount += changed.byteCount
            if byteCount > ServiceHistories.maximumByteCount { trim() }
            return changed.result
        }

        /// Drops values while all histories together are too large: first those of elements that the service does not
        /// have, then the oldest of the largest history.
        private mutating func trim() {
            // Their numbers are not assigned again if the elements come back.
            for key in others.keys where byteCount > ServiceHistories.maximumByteCount {
                byteCount -= others[key]?.byteCount ?? 0
                others[key]?.dropAll()
            }
            while byteCount > ServiceHistories.maximumByteCount {
                guard let longest = entries.indices.max(by: { length($0) < length($1) }), length(longest) > 0 else {
                    return
                }
                let other = entries.indices.filter { $0 != longest }.map(length).max() ?? 0
                repeat {
                    byteCount += entries[longest]?.change { $0.log.dropOldest() }.byteCount ?? 0
                } while byteCount > ServiceHistories.maximumByteCount && length(longest) >= max(other, 1)
            }
        }

        private func length(_ id: Int) -> Int { entries[id]?.log.byteCount ?? 0 }
    }

    private let state: Locked<State>
    private let clock: HistoryClock
    private let writer: HistoryWriter?

    /// Histories in memory, which end with the program.
    package init(_ clock: HistoryClock) {
        self.clock = clock
        state = Locked(State())
        writer = nil
    }

    /// Histories in the files of a folder, which are read now.
    ///
    /// - Parameters:
    ///   - elements: the service's elements.
    ///   - interval: the minimum time between two syncs of written values to the disk.
    ///   - retryInterval: the time before a retry after a failed write.
    ///   - thread: the thread that reads and writes the files; `nil` for a dedicated one.
    package init(
        _ clock: HistoryClock, inFilesOf service: String, for elements: ElementCatalogue, directory: String?,
        interval: Duration, retryInterval: Duration = .seconds(60), on thread: (any HistoryThread)? = nil
    ) async throws(SecurityError) {
        let path = try Self.path(of: service, directory)
        let (writer, restored) = try await HistoryWriter.open(
            path, interval: interval, retryInterval: retryInterval, clock, on: thread ?? WritingThread())
        self.clock = clock
        self.writer = writer
        var state = State(isInFiles: true)
        for (key, log) in restored { state.restore(key, log) }
        self.state = Locked(state)
        writer.use(
            HistoryWriter.Source(ends: { [weak self] in self?.ends ?? [:] }) { [weak self] in self?.values($0, from: $1)
            })
        keepOnly(elements)
        await begin()
    }

    package var isInFiles: Bool { writer != nil }

    /// Writes the lives of all histories to the files. Call it before a client receives any value, and again after
    /// ``synchronise()``.
    package func begin() async {
        guard let writer else { return }
        await writer.begin(
            state.withLock { state in state.logs.map { $0.log.beginning($0.key, start: clock.start) } })
    }

    /// The folder of a service's files.
    private static func path(of service: String, _ directory: String?) throws(SecurityError) -> String {
        // It becomes the name of a folder.
        let isName = service.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isName, (1...63).contains(service.utf8.count) else {
            throw SecurityError(
                .invalidPeer,
                "to keep histories in files, give the service a name of 1 to 63 letters, digits, hyphens and underscores"
            )
        }
        return try StateDirectory.path(explicit: directory, environment: StateDirectory.environment)
            + "/history/" + service
    }

    /// Removes the stored values of a service's element, or of all its elements.
    ///
    /// - Returns: the names of the elements that had stored values, and how many bytes those took.
    /// - Throws: ``SecurityError`` with the code ``SecurityError/Code/locked`` while the service runs.
    package static func clear(
        _ service: String, _ element: String?, directory: String?, _ clock: HistoryClock
    ) throws(SecurityError) -> [String: Int] {
        let path = try path(of: service, directory)
        guard var folder = try HistoryFolder(existing: path, clock) else { return [:] }
        do throws(SecurityError) {
            _ = try folder.read()
        } catch {
            // All can be removed without being read.
            guard error.code == .corrupt, element == nil else { throw error }
        }
        return try folder.clear(element)
    }

    /// The bytes of all values that are kept, with their headers.
    package var byteCount: Int { state.withLock { $0.byteCount } }

    /// Calls `handler` with the reason when values can no longer be written to files, and with `nil` when they can
    /// again. Replaces an earlier handler.
    package func onFailure(_ handler: @escaping @Sendable (SecurityError?) -> Void) { writer?.onFailure(handler) }

    /// Adds a value of an element with a history.
    ///
    /// - Parameters:
    ///   - time: when it was measured, in microseconds of the clock; `nil` for now.
    ///   - now: the current time, if the caller has read it already.
    package func append(_ id: Int8, _ value: UnsafeRawBufferPointer, at time: Int64?, now: Int64? = nil) {
        let now = now ?? clock.time()
        let waiters = state.withLock { state in
            state.change(id) { entry in
                entry.log.append(value, at: time ?? now, now: now / 1000)
                return entry.takeWaiters()
            }
        }
        writer?.wake()
        if let waiters { for waiter in waiters.values { waiter() } }
    }

    /// The answer to a request; `nil` if it waits for a value.
    ///
    /// - Parameters:
    ///   - owner: the connection that sent the request. It has at most one waiter for an element.
    ///   - wake: called on any thread when the element has a value.
    package func answer(
        _ request: HistoryRequest, _ element: ElementDefinition, for owner: ObjectIdentifier,
        wake: @escaping @Sendable () -> Void
    ) -> [UInt8]? {
        let now = clock.time() / 1000
        let anchor = clock.anchor()
        return state.withLock { state in
            // A connection may still know an element that was replaced.
            guard state.has(element.historyKey) else { return HistoryAnswer.refusal(.unknown, token: request.token) }
            return state.change(element.id) { entry in
                entry.log.trim(now: now)
                if request.waits, request.start == .position(entry.log.end) {
                    entry.waiters[owner] = wake
                    return nil
                }
                return entry.log.answer(request.token, behind: request.start, anchor: anchor).wireBytes
            } ?? nil
        }
    }

    /// Forgets the waiters of a connection that has ended.
    package func forget(_ owner: ObjectIdentifier) {
        state.withLock { state in for id in state.entries.indices { state.entries[id]?.waiters[owner] = nil } }
    }

    /// Keeps the histories of the catalogue's elements, with their limits. All others end; those in files are kept for
    /// the return of their elements.
    package func keepOnly(_ elements: ElementCatalogue) {
        let now = clock.time() / 1000
        let ended = state.withLock { state in
            var ended: [@Sendable () -> Void] = []
            for case let (id, entry?) in state.entries.enumerated() {
                if let element = elements[id: Int8(id)], element.history != nil, element.historyKey == entry.key {
                    continue
                }
                ended += entry.waiters.values
                state.forget(id)
            }
            for element in elements {
                guard let limits = element.history else { continue }
                if state.has(element.historyKey) {
                    state.change(element.id) { $0.log.limits = limits }
                } else {
                    state.begin(element.historyKey, limits, now: now)
                }
            }
            return ended
        }
        // Their requests are refused.
        for waiter in ended { waiter() }
    }

    /// Writes all values and waits until they are on the disk, so that none is lost when the program ends.
    ///
    /// - Returns: the failure, if any; always `nil` for histories in memory only.
    package func synchronise() async -> SecurityError? { await writer?.finish() }

    /// The number of the next value of each history, including those of elements that the service no longer has.
    private var ends: [Key: UInt64] {
        state.withLock { state in Dictionary(state.logs.map { ($0.key, $0.log.next) }) { $1 } }
    }

    /// The values that the files lack.
    private func values(_ key: Key, from number: UInt64) -> UnwrittenValues? {
        state.withLock { $0.log(key)?.unwritten(from: number, key, start: clock.start) }
    }
}

extension ElementDefinition {
    /// The access is not included: a client's catalogue has only the access that its role allows.
    var historyKey: ServiceHistories.Key { .init(id: id, type: type, name: name, readers: readers) }
}
