extension ElementalService {
    /// Calls `handler` on the service's event loop whenever part of a large value, of more than 128 KiB, has been
    /// received from a device or sent to one; the last call is for the complete value.
    @discardableResult
    public func onProgress(
        _ handler: @escaping @Sendable (TransferProgress, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        shared.handlers.addForProgress(handler)
    }
}
