import ElementalWire
import Support
import Synchronization

/// A handler for received values. The bytes are valid only during the call.
typealias ValueHandler = @Sendable (_ value: ReceivedBytes, _ device: ElementalDevice) -> Void

/// A handler for the received values of all elements.
typealias AnyValueHandler =
    @Sendable (_ element: ElementDefinition, _ value: ReceivedBytes, _ device: ElementalDevice) -> Void

/// The handlers of a device or of a service, added and removed from any thread.
///
/// The event loop works on a snapshot and takes a new one when the version has changed, so that no lock is taken to
/// find the handlers of a received value.
final class HandlerTable: Sendable {
    private struct State {
        var byElement: [Int8: [(token: UInt64, handler: HandlerSnapshot.Handler)]] = [:]
        var forAll: [(token: UInt64, handler: AnyValueHandler)] = []
        var forProgress: [(token: UInt64, handler: ProgressHandler)] = []
        var forRefusals: [(token: UInt64, handler: RefusalHandler)] = []
        var lastToken: UInt64 = 0
        /// The tokens of handlers that are about to be added. Cancelling one before that removes its token.
        var reserved: Set<UInt64> = []
        /// Work that is to run on the event loop.
        var postponed: [@Sendable () -> Void] = []

        var count: Int { forAll.count + byElement.reduce(0) { $0 + $1.value.count } }

        /// Removes the handlers with that token and returns the previous state, so that they can be released without
        /// the lock.
        mutating func take(_ token: UInt64) -> State {
            let before = self
            forProgress.removeAll { $0.token == token }
            forRefusals.removeAll { $0.token == token }
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

    var snapshot: HandlerSnapshot {
        state.withLock { state in
            HandlerSnapshot(
                byElement: state.byElement.mapValues { $0.map(\.handler) }, forAll: state.forAll.map(\.handler))
        }
    }

    /// The number of handlers, and of those that are about to be added.
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

    /// - Returns: `false` if it was cancelled in the meantime.
    @discardableResult
    func add(_ token: UInt64, for id: Int8, _ handler: @escaping ValueHandler) -> Bool {
        change { state in
            guard state.reserved.remove(token) != nil else { return false }
            state.byElement[id, default: []].append((token, HandlerSnapshot.Handler(handler)))
            return true
        }
    }

    /// - Returns: `false` if it was cancelled in the meantime.
    @discardableResult
    func addForAll(_ token: UInt64, _ handler: @escaping AnyValueHandler) -> Bool {
        change { state in
            guard state.reserved.remove(token) != nil else { return false }
            state.forAll.append((token, handler))
            return true
        }
    }

    /// Runs `body` on the event loop before the next received value is delivered, at the latest in ``catchUp()``. Work
    /// that is otherwise submitted to an event loop runs after the loop has handled its sockets.
    func postpone(_ body: @escaping @Sendable () -> Void) { change { $0.postponed.append(body) } }

    /// Runs the postponed work. Must be called on the event loop.
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

    /// The handlers for refused values, which are rare.
    var refusalHandlers: [RefusalHandler] { state.withLock { $0.forRefusals.map(\.handler) } }

    /// The handlers for the progress of large values; read once per piece, so the lock is cheap enough.
    var progressHandlers: [ProgressHandler] { state.withLock { $0.forProgress.map(\.handler) } }

    func remove(_ token: UInt64) {
        // What was removed is released without the lock: it may hold the last reference to an object of the program.
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
