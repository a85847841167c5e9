import Logging
import NIOCore
import ReconnectionDelays
import Support

/// The handlers, by the names of the methods that the hub calls.
final class MethodHandlers: Sendable {
    typealias Listener = @Sendable (HubArguments) async throws -> Void
    typealias Responder = @Sendable (HubArguments) async throws -> ByteBuffer

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

    func removeAll(_ method: String) { state.withLock { _ = $0.entries.removeValue(forKey: method.lowercased()) } }

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

/// Runs handlers off the event loop, one at a time and in the order of the messages.
final class HandlerQueue: Sendable {
    /// Bytes of memory that a call takes besides its own.
    private static var overhead: Int { 256 }

    private typealias Call = (arguments: HubArguments, share: UndeliveredSize.Share)

    private let waiting: Locked<UndeliveredSize>
    private let continuation: AsyncStream<Call>.Continuation

    init(handlers: MethodHandlers, limit: Int, logger: Logger) {
        waiting = Locked(UndeliveredSize(limit: limit))
        let (calls, continuation) = AsyncStream.makeStream(of: Call.self)
        self.continuation = continuation
        Task { [waiting] in
            for await (arguments, share) in calls {
                for listener in handlers[arguments.method]?.listeners ?? [] {
                    do {
                        try await listener.body(arguments)
                    } catch {
                        logger.warning(
                            "a handler failed", metadata: ["method": "\(arguments.method)", "error": "\(error)"])
                    }
                }
                waiting.withLock { $0.remove(share) }
            }
        }
    }

    /// - Parameter piece: the number of the network read in which it ended.
    /// - Returns: `false` if the buffer is full.
    func add(_ arguments: HubArguments, piece: UInt64) -> Bool {
        let share = waiting.withLock { $0.add(arguments.array, overhead: Self.overhead, piece: piece) }
        guard let share else { return false }
        continuation.yield((arguments, share))
        return true
    }

    func finish() { continuation.finish() }
}
