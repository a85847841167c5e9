extension ElementalService {
    /// Calls `handler` on the service's event loop whenever a part of a large value, of more than 128 KiB, has come from
    /// a device or was taken by one; the last time when it is whole.
    @discardableResult
    public func onProgress(
        _ handler: @escaping @Sendable (TransferProgress, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        shared.handlers.addForProgress(handler)
    }
}
