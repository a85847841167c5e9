/// The registration of a handler. It lasts as long as the device or service, or until it is cancelled.
public struct HandlerRegistration: Sendable {
    private let remove: @Sendable () -> Void

    package init(_ remove: @escaping @Sendable () -> Void) { self.remove = remove }

    /// Removes the handler. A call in progress is not interrupted.
    ///
    /// A second call has no effect.
    public func cancel() { remove() }
}
