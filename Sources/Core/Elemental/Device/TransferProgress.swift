public import ElementalWire

/// How far a large value has come: one of more than 128 KiB.
public struct TransferProgress: Sendable, Hashable {
    /// Which way the value travels.
    public enum Direction: Sendable, Hashable {
        /// The other end sends it.
        case incoming
        /// This end sends it.
        case outgoing
    }

    /// The value's element.
    public let element: ElementDefinition
    /// Which way it travels.
    public let direction: Direction
    /// Bytes of the value that have come or that the other end has taken. An older peer does not tell what it has taken:
    /// then these are the bytes that the system took to send.
    public let byteCount: Int
    /// Bytes that the value has.
    public let totalByteCount: Int

    /// The part that has come, 0...1.
    public var fraction: Double { totalByteCount == 0 ? 1 : Double(byteCount) / Double(totalByteCount) }
}

/// What is told how far a large value has come.
typealias ProgressHandler = @Sendable (_ progress: TransferProgress, _ device: ElementalDevice) -> Void

/// Tells the handlers of a device, and those that it shares with others, how far its large values have come.
struct ProgressReporter {
    let device: ElementalDevice
    let shared: HandlerTable

    func report(_ progress: PieceAssembler.Progress, _ direction: TransferProgress.Direction) {
        let handlers = shared.progressHandlers + device.handlers.progressHandlers
        guard !handlers.isEmpty, let element = device.knownElements[id: progress.id] else { return }
        let progress = TransferProgress(
            element: element, direction: direction, byteCount: progress.byteCount, totalByteCount: progress.total)
        for handler in handlers { handler(progress, device) }
    }
}

extension ElementalDevice {
    /// Calls `handler` on the connection's event loop whenever a part of a large value, of more than 128 KiB, has come or
    /// was taken by the other end; the last time when it is whole.
    @discardableResult
    public func onProgress(
        _ handler: @escaping @Sendable (TransferProgress, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        handlers.addForProgress(handler)
    }
}
