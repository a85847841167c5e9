import NIOCore
import Support

/// Resource limits of one connection.
public struct DeviceLimits: Sendable, Hashable {
    /// The longest value accepted from the peer, in bytes. A peer that announces a longer value is disconnected. So is
    /// a peer whose incomplete values, one in pieces and one in a frame, together exceed this; a frame of up to 128 KiB
    /// is accepted beside a value in pieces of any length.
    public var maximumValueByteCount: Int
    /// Unsent bytes per transport at which `send` throws ``ElementalError/Code/queueFull``. A single value is always
    /// accepted when the queue is empty, however long it is.
    public var maximumQueueByteCount: Int
    /// The high watermark: unsent bytes per transport at which `sendWhenReady` and `waitForRoom` suspend, until an
    /// eighth is left. Queued values arrive late, and values that no longer fit in the processor's cache are sent more
    /// slowly (measured): a sender that can wait need not fill the whole queue.
    public var readyQueueByteCount: Int
    /// Values that an async stream buffers before reading is paused, which makes the peer wait. The same number of
    /// values from datagrams is buffered, and the oldest of them are dropped.
    public var streamBufferCount: Int
    /// The same in bytes, counting the memory that the values take. A single value is always buffered, however long it
    /// is.
    public var streamBufferByteCount: Int
    /// How long a client may take to complete its part of the handshake with a service. A client's own limit is
    /// ``ConnectOptions/timeout`` instead.
    public var handshakeTimeout: Duration
    /// Silence after which a peer that uses this framework is pinged, to detect a dead connection; `nil` for never. An
    /// older peer answers no pings and is monitored by TCP keepalive probes at the same interval, in whole seconds.
    public var heartbeatInterval: Duration?
    /// Intervals of silence after which the peer is considered dead and the connection ends.
    public var heartbeatPatience: Double
    /// How long a peer may accept none of the bytes queued for it before it is disconnected; `nil` for no limit.
    public var stuckTimeout: Duration?
    /// Values per second accepted from the peer. Above that, reading over TCP is throttled, and further datagrams are
    /// dropped and counted as rejected. `nil` for no limit.
    public var maximumMessagesPerSecond: Int?
    /// Consecutive frames of unknown elements after which the peer is disconnected, because it apparently speaks
    /// another protocol. `nil` for never.
    public var maximumUnknownCount: Int?
    /// How long closing may spend on sending what is queued.
    public var closeTimeout: Duration

    var maximumSilence: Duration? { heartbeatInterval.map { $0 * max(1, heartbeatPatience) } }

    /// Creates limits; parameters that are left out have their defaults.
    public init(
        maximumValueByteCount: Int = 128 * 1024 * 1024, maximumQueueByteCount: Int = 8 * 1024 * 1024,
        readyQueueByteCount: Int = 256 * 1024, streamBufferCount: Int = 256,
        streamBufferByteCount: Int = 8 * 1024 * 1024, handshakeTimeout: Duration = .seconds(10),
        heartbeatInterval: Duration? = .seconds(20), heartbeatPatience: Double = 4.5, stuckTimeout: Duration? = nil,
        maximumMessagesPerSecond: Int? = nil, maximumUnknownCount: Int? = 1_000_000,
        closeTimeout: Duration = .seconds(1)
    ) {
        self.maximumValueByteCount = maximumValueByteCount
        self.maximumQueueByteCount = maximumQueueByteCount
        self.readyQueueByteCount = readyQueueByteCount
        self.streamBufferCount = streamBufferCount
        self.streamBufferByteCount = streamBufferByteCount
        self.handshakeTimeout = handshakeTimeout
        self.heartbeatInterval = heartbeatInterval
        self.heartbeatPatience = heartbeatPatience
        self.stuckTimeout = stuckTimeout
        self.maximumMessagesPerSecond = maximumMessagesPerSecond
        self.maximumUnknownCount = maximumUnknownCount
        self.closeTimeout = closeTimeout
    }
}

/// A memory budget that several holders share, in bytes. No holder may have more than it leaves free: one can have
/// half, two a third each, and some is always left for another one.
package final class ByteBudget: Sendable {
    package let limit: Int
    private let used = Locked(0)

    package init(_ limit: Int) { self.limit = limit }

    /// The bytes that are held now.
    package var usedByteCount: Int { used.withLock { $0 } }

    /// Replaces `old` bytes of a holder by `new`, unless the holder would have too many.
    ///
    /// - Parameter own: all bytes of the holder, before the change.
    /// - Returns: whether they were replaced.
    package func replace(_ old: Int, by new: Int, own: Int) -> Bool {
        used.withLock { used in
            let others = used - own
            guard new <= old || own - old + new <= limit - others - (own - old + new) else { return false }
            used += new - old
            return true
        }
    }

    /// Records that a holder has this many bytes more, or fewer if negative, whatever the limit.
    ///
    /// - Parameter own: all bytes of the holder, after the change.
    /// - Returns: whether that is within the limit.
    package func note(_ change: Int, own: Int) -> Bool {
        used.withLock { used in
            used += change
            return own <= limit - used
        }
    }
}

/// Limits the values received within a second. It has no timer: the caller schedules ``goOn(at:)``.
struct Throttle {
    /// The maximum number of values per second, at least 1.
    let limit: Int
    private(set) var isOver = false
    private var count = 0
    private var end = NIODeadline.uptimeNanoseconds(0)

    init(limit: Int) { self.limit = max(1, limit) }

    /// - Returns: when to call ``goOn(at:)``, if these values reach the limit.
    mutating func add(_ number: Int, at now: NIODeadline) -> NIODeadline? {
        if now >= end, !isOver {
            count = 0
            end = now + .seconds(1)
        }
        count += number
        guard count >= limit, !isOver else { return nil }
        isOver = true
        return end
    }

    /// Begins a new second. Values beyond the previous second's limit, received in the same read, count towards the new
    /// one.
    ///
    /// - Returns: when to call it again, if they reach the limit again.
    mutating func goOn(at now: NIODeadline) -> NIODeadline? {
        count = max(0, count - limit)
        end = now + .seconds(1)
        isOver = count >= limit
        return isOver ? end : nil
    }
}
