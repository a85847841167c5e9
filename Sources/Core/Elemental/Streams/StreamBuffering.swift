/// What an async stream does with values that arrive faster than they are consumed.
public enum StreamBuffering: Sendable, Hashable {
    /// It buffers ``DeviceLimits/streamBufferCount`` of them, or ``DeviceLimits/streamBufferByteCount`` bytes; then
    /// reading from the TCP connection pauses, which makes the other end wait. Nothing slows down the sender of
    /// datagrams: of the values from them as many are buffered, and the oldest are dropped and counted
    /// (``DeviceStatistics/messagesOverrun``).
    case waiting
    /// It buffers that many of the newest values, at least 1, and ``DeviceLimits/streamBufferByteCount`` bytes; older
    /// ones are dropped unread, and nothing waits.
    case newest(Int)
}
