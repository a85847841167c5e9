/// A handler that was added. It stays until what it was added to is released, or until it is cancelled.
public struct HandlerRegistration: Sendable {
    private let remove: @Sendable () -> Void

    package init(_ remove: @escaping @Sendable () -> Void) { self.remove = remove }

    /// Removes the handler. A call that runs already is not interrupted; a second call of this has no effect.
    public func cancel() { remove() }
}
