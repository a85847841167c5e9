public import ElementalWire

/// The progress of a large value: one of more than 128 KiB.
public struct TransferProgress: Sendable, Hashable {
    /// The direction of a transfer.
    public enum Direction: Sendable, Hashable {
        /// The peer sends it.
        case incoming
        /// This end sends it.
        case outgoing
    }

    /// The value's element.
    public let element: ElementDefinition
    /// The direction of the transfer.
    public let direction: Direction
    /// Bytes of the value that were received, or acknowledged by the peer. An older peer sends no acknowledgements;
    /// then these are the bytes that the system accepted for sending.
    public let byteCount: Int
    /// The length of the value in bytes.
    public let totalByteCount: Int

    /// The fraction transferred, 0...1.
    public var fraction: Double { totalByteCount == 0 ? 1 : Double(byteCount) / Double(totalByteCount) }
}

extension ElementalDevice {
    /// Calls `handler` on the connection's event loop whenever part of a large value, of more than 128 KiB, was
    /// received or was acknowledged by the peer, and a last time when the value is complete.
    @discardableResult
    public func onProgress(
        _ handler: @escaping @Sendable (TransferProgress, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        handlers.addForProgress(handler)
    }
}
