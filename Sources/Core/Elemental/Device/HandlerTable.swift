import ElementalWire
import ReconnectionDelays
import Support
import Synchronization

typealias ValueHandler = @Sendable (_ value: ReceivedBytes, _ device: ElementalDevice) -> Void

typealias AnyValueHandler =
    @Sendable (_ element: ElementDefinition, _ value: ReceivedBytes, _ device: ElementalDevice) -> Void

typealias RefusalHandler =
    @Sendable (_ element: ElementDefinition, _ refusal: ValueRefusal, _ device: ElementalDevice) -> Void

typealias ProgressHandler = @Sendable (_ progress: TransferProgress, _ device: ElementalDevice) -> Void

/// The handlers of a device or of a service, added and removed from any thread.
///
/// The event loop works on a snapshot and takes a new one when the version has changed, so that no lock is taken to
/// find the handlers of a received value.
final class HandlerTable: Sendable {
    private struct State {
        var byElement: [Int8: [(token: UInt64, handler: HandlerSnapshot.Handler)]] = [:]
        var forAll: [(token: UInt64, handler: AnyValueHandler)] = []
        var forProgress = Registry<ProgressHandler>()
        var forRefusals = Registry<RefusalHandler>()
        var lastToken: UInt64 = 0
        /// The tokens of handlers that are about to be added. Cancelling one before that removes its token.
        var reserved: Set<UInt64> = []
        var postponed: [@Sendable () -> Void] = []

        var count: Int { forAll.count + byElement.reduce(0) { $0 + $1.value.count } }

        /// Removes the handlers with that token and returns the previous state, so that they can be released without
        /// the lock.
        mutating func take(_ token: UInt64) -> State {
            let before = self
            forAll.removeAll { $0.token == token }
            for id in byElement.keys { byElement[id]?.removeAll { $0.token == token } }
            return before
        }
    }

    /// The table used where no handlers are shared.
    static let none = HandlerTable()

    private let state = Locked(State())
    private let changes = Atomic<UInt64>(0)

    /// Grows with every change.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    var handlers: HandlerSnapshot.Handlers {
        state.withLock { ($0.byElement.mapValues { $0.map(\.handler) }, $0.forAll.map(\.handler)) }
    }

    var counts: (handlers: Int, reserved: Int) {
        state.withLock { ($0.count + $0.forProgress.count + $0.forRefusals.count, $0.reserved.count) }
    }

    func reserve() -> UInt64 {
        state.withLock { state in
            state.lastToken += 1
            state.reserved.insert(state.lastToken)
            return state.lastToken
        }
    }

    @discardableResult
    func add(_ token: UInt64, for id: Int8, _ handler: @escaping ValueHandler) -> Bool {
        add(token) { $0.byElement[id, default: []].append((token, HandlerSnapshot.Handler(handler))) }
    }

    @discardableResult
    func addForAll(_ token: UInt64, _ handler: @escaping AnyValueHandler) -> Bool {
        add(token) { $0.forAll.append((token, handler)) }
    }

    private func add(_ token: UInt64, _ body: (inout State) -> Void) -> Bool {
        change { state in
            guard state.reserved.remove(token) != nil else { return false }
            body(&state)
            return true
        }
    }

    /// Runs `body` on the event loop before the next received value is delivered, at the latest in ``catchUp()``. Work
    /// submitted to the event loop itself would run only after the loop has handled its sockets.
    func postpone(_ body: @escaping @Sendable () -> Void) { change { $0.postponed.append(body) } }

    /// Must be called on the event loop.
    func catchUp() {
        for body in state.withLock({ state in
            defer { state.postponed = [] }
            return state.postponed
        }) { body() }
    }

    func addForProgress(_ handler: @escaping ProgressHandler) -> HandlerRegistration {
        let token = state.withLock { $0.forProgress.add(handler) }
        return HandlerRegistration { [self] in _ = state.withLock { $0.forProgress.take(token) } }
    }

    func addForRefusals(_ handler: @escaping RefusalHandler) -> HandlerRegistration {
        let token = state.withLock { $0.forRefusals.add(handler) }
        return HandlerRegistration { [self] in _ = state.withLock { $0.forRefusals.take(token) } }
    }

    var refusalHandlers: [RefusalHandler] { state.withLock { $0.forRefusals.all } }

    var progressHandlers: [ProgressHandler] { state.withLock { $0.forProgress.all } }

    func remove(_ token: UInt64) {
        // The removed handler is released outside the lock: it may hold the last reference to an object of the program.
        let removed = change { state in
            // If it has not been added yet, its turn on the event loop finds no token and does nothing.
            if state.reserved.remove(token) != nil { return State() }
            return state.take(token)
        }
        withExtendedLifetime(removed) {}
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        defer { changes.wrappingAdd(1, ordering: .releasing) }
        return state.withLock { body(&$0) }
    }
}

extension HandlerRegistration {
    init(table: HandlerTable, token: UInt64) { self.init { table.remove(token) } }
}

/// Calls the device's own handlers and those shared with other devices.
struct ProgressReporter {
    let device: ElementalDevice
    let shared: HandlerTable

    func report(_ progress: PieceAssembler.Progress, _ direction: TransferProgress.Direction) {
        let handlers = shared.progressHandlers + device.handlers.progressHandlers
        guard !handlers.isEmpty, let element = device.knownElements[id: progress.id] else { return }
        let progress = TransferProgress(
            element: element, direction: direction, byteCount: progress.byteCount, totalByteCount: progress.total)
        for handler in handlers { handler(progress, device) }
    }
}

/// The handlers at one point in time, laid out so that a received value finds and calls its own without touching a
/// reference count: the handlers of an element are contiguous.
///
/// Unchecked: the memory is written during initialization only.
final class HandlerSnapshot: @unchecked Sendable {
    /// A boxed closure: calling it through the box retains nothing.
    final class Handler: Sendable {
        fileprivate let body: ValueHandler

        init(_ body: @escaping ValueHandler) { self.body = body }
    }

    typealias Handlers = (byElement: [Int8: [Handler]], forAll: [AnyValueHandler])

    let forAll: [AnyValueHandler]
    let hasForAll: Bool
    /// One past the largest identifier that has a handler.
    private let idCount: Int
    /// The position of each identifier's first handler, which is also the end of the previous identifier's.
    private let starts: UnsafeMutablePointer<Int32>
    /// Retained once each, for as long as the snapshot lives.
    private let handlers: UnsafeMutablePointer<Unmanaged<Handler>>
    private let handlerCount: Int

    init(_ all: Handlers) {
        let byElement = all.byElement
        forAll = all.forAll
        hasForAll = !forAll.isEmpty
        idCount = byElement.filter { !$0.value.isEmpty }.keys.map { Int($0) + 1 }.max() ?? 0
        handlerCount = byElement.values.reduce(0) { $0 + $1.count }
        starts = .allocate(capacity: idCount + 1)
        handlers = .allocate(capacity: handlerCount)
        var position = 0
        for id in 0..<idCount {
            (starts + id).initialize(to: Int32(position))
            for handler in byElement[Int8(id)] ?? [] {
                (handlers + position).initialize(to: Unmanaged.passRetained(handler))
                position += 1
            }
        }
        (starts + idCount).initialize(to: Int32(position))
    }

    var isEmpty: Bool { handlerCount == 0 && !hasForAll }

    deinit {
        for position in 0..<handlerCount { handlers[position].release() }
        handlers.deallocate()
        starts.deallocate()
    }

    /// The caller keeps the snapshot alive meanwhile.
    @inline(__always)
    func call(_ id: Int8, _ value: ReceivedBytes, _ device: ElementalDevice) {
        let position = Int(id)
        guard position < idCount else { return }
        var next = Int(starts[position])
        let end = Int(starts[position + 1])
        while next < end {
            handlers[next]._withUnsafeGuaranteedRef { $0.body(value, device) }
            next += 1
        }
    }
}

/// The event loop's view of a table: a snapshot, refreshed when the table's version has changed.
///
/// The references followed for a received value are unmanaged, and the view owns the objects. With plain ones, here and
/// to the newest values, a value of 8 bytes took 1.38 times as long.
struct HandlerView {
    let table: HandlerTable
    private let unmanagedTable: Unmanaged<HandlerTable>
    // 0 is behind the table's version if that has ever changed: work may have been postponed.
    private var version: UInt64 = 0
    private var snapshot: HandlerSnapshot
    /// `nil` if there are none.
    private(set) var handlers: Unmanaged<HandlerSnapshot>?

    init(_ table: HandlerTable) {
        self.table = table
        unmanagedTable = .passUnretained(table)
        snapshot = HandlerSnapshot(table.handlers)
        handlers = snapshot.isEmpty ? nil : .passUnretained(snapshot)
    }

    var isStale: Bool {
        @inline(__always) get { unmanagedTable._withUnsafeGuaranteedRef { $0.version } != version }
    }

    /// - Parameter version: the table's version before postponed work was done. Work postponed since then makes the
    ///   view stale again.
    mutating func refresh(at version: UInt64) {
        self.version = version
        snapshot = HandlerSnapshot(table.handlers)
        handlers = snapshot.isEmpty ? nil : .passUnretained(snapshot)
    }
}
