/// Those who are told, once, that a device has ended.
struct Endings {
    typealias Handler = @Sendable (DisconnectReason) -> Void

    private var handlers: [UInt64: Handler] = [:]
    /// Never used twice, also when the device has returned.
    private var lastToken: UInt64 = 0
    /// Why the device has ended.
    private(set) var reason: DisconnectReason?

    var count: Int { handlers.count }

    /// A number for a handler that is about to be added.
    mutating func makeToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    /// - Returns: the reason, with which the caller calls the handler, if the end has come.
    mutating func add(_ token: UInt64, _ handler: @escaping Handler) -> DisconnectReason? {
        if reason == nil { handlers[token] = handler }
        return reason
    }

    /// Takes out a handler that nobody needs any more. The caller lets go of it when the lock is no longer held.
    mutating func take(_ token: UInt64) -> Handler? { handlers.removeValue(forKey: token) }

    /// The end has come, unless it had before.
    ///
    /// - Returns: the handlers to call, in the order in which they were added.
    mutating func end(_ reason: DisconnectReason) -> [Handler] {
        if self.reason == nil { self.reason = reason }
        defer { handlers = [:] }
        return handlers.sorted { $0.key < $1.key }.map(\.value)
    }

    /// There is a connection again, whose end is to be told.
    mutating func reopen() { reason = nil }
}
