import NIOCore
import ReconnectionDelays
import Support

/// The handlers, by the names of the methods that the hub calls.
final class MethodHandlers: Sendable {
    typealias Listener = @Sendable (HubArguments) async throws -> Void
    typealias Responder = @Sendable (HubArguments) async throws -> ByteBuffer

    /// The handlers of one method.
    struct Entry: Sendable {
        var listeners: [(number: UInt64, body: Listener)] = []
        var responder: (number: UInt64, body: Responder)?
    }

    private struct State {
        /// By lower-case name: method names of hubs are case-insensitive.
        var entries: [String: Entry] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    func add(_ method: String, _ listener: @escaping Listener) -> HandlerRegistration {
        change(method) { entry, number in entry.listeners.append((number, listener)) }
    }

    func add(_ method: String, _ responder: @escaping Responder) -> HandlerRegistration {
        change(method) { entry, number in entry.responder = (number, responder) }
    }

    private func remove(_ key: String, _ number: UInt64) {
        state.withLock { state in
            guard var entry = state.entries[key] else { return }
            entry.listeners.removeAll { $0.number == number }
            if entry.responder?.number == number { entry.responder = nil }
            state.entries[key] = entry.listeners.isEmpty && entry.responder == nil ? nil : entry
        }
    }

    func removeAll(_ method: String) {
        state.withLock { _ = $0.entries.removeValue(forKey: method.lowercased()) }
    }

    subscript(_ method: String) -> Entry? { state.withLock { $0.entries[method.lowercased()] } }

    private func change(_ method: String, _ body: (inout Entry, UInt64) -> Void) -> HandlerRegistration {
        let key = method.lowercased()
        let number = state.withLock { state in
            state.last += 1
            body(&state.entries[key, default: Entry()], state.last)
            return state.last
        }
        return HandlerRegistration { [weak self] in self?.remove(key, number) }
    }
}
