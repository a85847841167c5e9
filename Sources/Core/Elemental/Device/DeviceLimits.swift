/// What one connection may take of this process.
public struct DeviceLimits: Sendable, Hashable {
    /// The longest value taken from the peer, in bytes. A peer that announces a longer one is disconnected, and one whose
    /// values that have not come whole, one in pieces and one in a frame, take more than this together. A frame of up to
    /// 128 KiB has room beside a value in pieces, however long that is.
    public var maximumValueByteCount = 128 * 1024 * 1024
    /// Unsent bytes per transport at which `send` throws ``ElementalError/Code/queueFull``. One value is always taken
    /// when nothing waits, however long it is.
    public var maximumQueueByteCount = 8 * 1024 * 1024
    /// Unsent bytes per transport from which on `sendWhenReady` and `waitForRoom` wait, until an eighth is left. What
    /// waits in a queue comes late, and values that no longer fit the processor's cache leave slower (measured): a sender
    /// that can wait need not fill all of it.
    public var readyQueueByteCount = 256 * 1024
    /// Values that an async stream keeps before the peer is made to wait.
    public var streamBufferCount = 256
    /// How long a client may take for its part of the handshake with a service. A client's own limit is
    /// ``ConnectOptions/timeout`` instead.
    public var handshakeTimeout: Duration = .seconds(10)
    /// Silence after which a peer of this framework's is pinged, so that a dead one is noticed; `nil` for never. An older
    /// peer answers no pings and is watched by TCP's own probes at the same interval, in whole seconds.
    public var heartbeatInterval: Duration? = .seconds(20)
    /// Intervals of silence after which the peer is dead and the connection ends.
    public var heartbeatPatience = 4.5
    /// How long a peer may take nothing of what waits for it before it is dropped; `nil` for as long as it likes.
    public var stuckTimeout: Duration?
    /// Values a second that are taken from the peer. One that sends more over TCP has to wait, and its datagrams beyond
    /// that are dropped and counted as rejected. `nil` for as many as it likes.
    public var maximumMessagesPerSecond: Int?
    /// Frames of unknown elements in a row, without a known one between, after which the peer is disconnected: it speaks
    /// something else. `nil` for never.
    public var maximumUnknownCount: Int? = 1_000_000
    /// How long closing may take to send what is queued.
    public var closeTimeout: Duration = .seconds(1)

    /// Silence after which the peer is dead; `nil` for never.
    var maximumSilence: Duration? { heartbeatInterval.map { $0 * max(1, heartbeatPatience) } }

    /// The defaults: 128 MiB a value, 8 MiB unsent, 256 KiB for those who wait, 256 values in a stream, 10 s for the
    /// handshake, a ping after 20 s of silence, dead after 90 s,
    /// a million unknown frames, 1 s for closing.
    public init() {}
}
