import Support

/// Handlers that are called once, when a device has ended.
struct Endings {
    typealias Handler = @Sendable (DisconnectReason) -> Void

    var handlers = Registry<Handler>()
    private(set) var reason: DisconnectReason?

    /// - Returns: `nil` if the device has already ended: call the handler with the reason then.
    mutating func add(_ handler: @escaping Handler) -> UInt64? { reason == nil ? handlers.add(handler) : nil }

    /// The first reason stands. Returns the handlers to call.
    mutating func end(_ reason: DisconnectReason) -> [Handler] {
        if self.reason == nil { self.reason = reason }
        return handlers.takeAll()
    }

    mutating func reopen() { reason = nil }
}
