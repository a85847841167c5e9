/// A handler that was added. It stays until the client is released or the handler is cancelled.
public struct HandlerRegistration: Sendable {
    private let remove: @Sendable () -> Void

    init(_ remove: @escaping @Sendable () -> Void) { self.remove = remove }

    /// Removes the handler. A call that runs already is not interrupted.
    ///
    /// A second call has no effect.
    public func cancel() { remove() }
}
