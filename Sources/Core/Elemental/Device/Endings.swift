import Support

/// Handlers that are called once, when a device has ended.
struct Endings {
    typealias Handler = @Sendable (DisconnectReason) -> Void

    private var handlers: [UInt64: Handler] = [:]
    /// Never reused, even after the device has reconnected.
    private var lastToken: UInt64 = 0
    private(set) var reason: DisconnectReason?

    var count: Int { handlers.count }

    /// - Returns: the token for ``take(_:)``; `nil` if the device has already ended: call the handler with the reason
    ///   then.
    mutating func add(_ handler: @escaping Handler) -> UInt64? {
        guard reason == nil else { return nil }
        lastToken += 1
        handlers[lastToken] = handler
        return lastToken
    }

    /// The caller releases the handler once the lock is no longer held.
    mutating func take(_ token: UInt64) -> Handler? { handlers.removeValue(forKey: token) }

    /// Records that the device has ended; the first reason stands.
    ///
    /// - Returns: the handlers to call, in the order in which they were added.
    mutating func end(_ reason: DisconnectReason) -> [Handler] {
        if self.reason == nil { self.reason = reason }
        defer { handlers = [:] }
        return handlers.sorted { $0.key < $1.key }.map(\.value)
    }

    mutating func reopen() { reason = nil }
}
