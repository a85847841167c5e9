import ElementalWire
import Support
import Synchronization

/// What a received value is handed to. The bytes are valid only during the call.
typealias ValueHandler = @Sendable (_ value: ReceivedBytes, _ device: ElementalDevice) -> Void

/// What every received value is handed to, whatever its element.
typealias AnyValueHandler =
    @Sendable (_ element: ElementDefinition, _ value: ReceivedBytes, _ device: ElementalDevice) -> Void

/// The handlers of a device or of a service, added and removed from any thread.
///
/// The event loop works on a snapshot and takes a new one when the version says that something changed, so that a
/// received value takes no lock to find its handlers.
final class HandlerTable: Sendable {
    private struct State {
        var byElement: [Int8: [(token: UInt64, handler: HandlerSnapshot.Handler)]] = [:]
        var forAll: [(token: UInt64, handler: AnyValueHandler)] = []
        var forProgress: [(token: UInt64, handler: ProgressHandler)] = []
        var forRefusals: [(token: UInt64, handler: RefusalHandler)] = []
        var lastToken: UInt64 = 0
        /// The tokens of handlers that are about to be added. One that is cancelled before is no longer among them.
        var reserved: Set<UInt64> = []
        /// What waits for its turn on the event loop.
        var postponed: [@Sendable () -> Void] = []

        var count: Int { forAll.count + byElement.reduce(0) { $0 + $1.value.count } }

        /// Takes out the handlers of that token.
        mutating func take(_ token: UInt64) -> State {
            let before = self
            forProgress.removeAll { $0.token == token }
            forRefusals.removeAll { $0.token == token }
            forAll.removeAll { $0.token == token }
            for id in byElement.keys { byElement[id]?.removeAll { $0.token == token } }
            return before
        }
    }

    /// The table of those who share none.
    static let none = HandlerTable()

    private let state = Locked(State())
    private let changes = Atomic<UInt64>(0)

    /// Grows with every change.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    var snapshot: HandlerSnapshot {
        state.withLock { state in
            HandlerSnapshot(
                byElement: state.byElement.mapValues { $0.map(\.handler) }, forAll: state.forAll.map(\.handler))
        }
    }

    /// How many handlers there are, and how many are about to be added.
    var counts: (handlers: Int, reserved: Int) {
        state.withLock { ($0.count + $0.forProgress.count + $0.forRefusals.count, $0.reserved.count) }
    }

    /// A token for a handler that is about to be added.
    func reserve() -> UInt64 {
        state.withLock { state in
            state.lastToken += 1
            state.reserved.insert(state.lastToken)
            return state.lastToken
        }
    }

    /// - Returns: whether it is wanted still.
    @discardableResult
    func add(_ token: UInt64, for id: Int8, _ handler: @escaping ValueHandler) -> Bool {
        change { state in
            guard state.reserved.remove(token) != nil else { return false }
            state.byElement[id, default: []].append((token, HandlerSnapshot.Handler(handler)))
            return true
        }
    }

    /// - Returns: whether it is wanted still.
    @discardableResult
    func addForAll(_ token: UInt64, _ handler: @escaping AnyValueHandler) -> Bool {
        change { state in
            guard state.reserved.remove(token) != nil else { return false }
            state.forAll.append((token, handler))
            return true
        }
    }

    /// Has the event loop do something before it hands on the next value that comes; at the latest when it is asked to
    /// by ``catchUp()``. Work that is given to an event loop otherwise comes after what it finds on its sockets.
    func postpone(_ body: @escaping @Sendable () -> Void) { change { $0.postponed.append(body) } }

    /// Does what was postponed. On the event loop only.
    func catchUp() {
        for body in state.withLock({ state in
            defer { state.postponed = [] }
            return state.postponed
        }) { body() }
    }

    func addForProgress(_ handler: @escaping ProgressHandler) -> HandlerRegistration {
        state.withLock { state in
            state.lastToken += 1
            state.forProgress.append((state.lastToken, handler))
            return HandlerRegistration(table: self, token: state.lastToken)
        }
    }

    func addForRefusals(_ handler: @escaping RefusalHandler) -> HandlerRegistration {
        state.withLock { state in
            state.lastToken += 1
            state.forRefusals.append((state.lastToken, handler))
            return HandlerRegistration(table: self, token: state.lastToken)
        }
    }

    /// Handlers of refused values, which are rare.
    var refusalHandlers: [RefusalHandler] { state.withLock { $0.forRefusals.map(\.handler) } }

    /// Those who are told how far large values have come; asked for a piece at a time, so the lock is cheap enough.
    var progressHandlers: [ProgressHandler] { state.withLock { $0.forProgress.map(\.handler) } }

    func remove(_ token: UInt64) {
        // What was removed is let go when the lock is no longer held: it may be the last to hold an object of the program's.
        let removed = change { state in
            // If it is not there yet, its turn on the event loop is still to come, and comes to nothing.
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
