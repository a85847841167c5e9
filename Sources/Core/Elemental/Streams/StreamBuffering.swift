/// What an async stream does with values that come faster than they are taken.
public enum StreamBuffering: Sendable, Hashable {
    /// It keeps ``DeviceLimits/streamBufferCount`` of them; then reading from the connection pauses, and the other end
    /// has to wait.
    case waiting
    /// It keeps so many, from 1, the newest; older ones that were not taken are dropped, and nobody waits.
    case newest(Int)
}
