/// What one connection may take of this process.
public struct DeviceLimits: Sendable, Hashable {
    /// The longest value taken from the peer, in bytes. A peer that announces a longer one is disconnected.
    public var maximumValueByteCount = 64 * 1024 * 1024
    /// Unsent bytes per transport at which `send` throws ``ElementalError/Code/queueFull``. One value is always taken
    /// when nothing waits, however long it is.
    public var maximumQueueByteCount = 8 * 1024 * 1024
    /// Unsent bytes per transport from which on `sendWhenReady` and `waitForRoom` wait, until an eighth is left. What
    /// waits in a queue comes late, and values that no longer fit the processor's cache leave slower (measured): a sender
    /// that can wait need not fill all of it.
    public var readyQueueByteCount = 256 * 1024
    /// Values that an async stream keeps before the peer is made to wait.
    public var streamBufferCount = 256
    /// How long the other end may take for its part of the handshake.
    public var handshakeTimeout: Duration = .seconds(10)
    /// How long closing may take to send what is queued.
    public var closeTimeout: Duration = .seconds(1)

    /// The defaults: 64 MiB a value, 8 MiB unsent, 256 KiB for those who wait, 256 values in a stream, 10 s for the
    /// handshake, 1 s for closing.
    public init() {}
}
