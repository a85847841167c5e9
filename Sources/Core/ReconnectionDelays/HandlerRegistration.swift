/// A handler that was added. It stays until its source is released or ``cancel()`` is called.
public struct HandlerRegistration: Sendable {
    private let remove: @Sendable () -> Void

    package init(_ remove: @escaping @Sendable () -> Void) { self.remove = remove }

    /// Removes the handler. A call in progress is not interrupted, and a second removal has no effect.
    public func cancel() { remove() }
}
