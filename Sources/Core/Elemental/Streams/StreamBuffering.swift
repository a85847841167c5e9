/// What an async stream does with values that arrive faster than they are consumed.
public enum StreamBuffering: Sendable, Hashable {
    /// It buffers ``DeviceLimits/streamBufferCount`` of them; then reading from the connection pauses, which makes the
    /// other end wait.
    case waiting
    /// It buffers that many of the newest values, at least 1; older ones are dropped unread, and nothing waits.
    case newest(Int)
}
