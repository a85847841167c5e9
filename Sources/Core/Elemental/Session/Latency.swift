import NIOCore

/// What a connection's event loop does while it has nothing to do.
///
/// ```swift
/// options.latency = .lowest
/// ```
public struct Latency: Sendable, Hashable {
    let hold: Duration?

    /// It sleeps until something arrives, at no cost; waking up takes the system some microseconds.
    public static let standard = Latency(hold: nil)

    /// While values flow it does not sleep, but looks at all its sockets again and again: ``lowest(holding:)`` with
    /// 500 µs.
    public static let lowest = lowest(holding: .microseconds(500))

    /// While values flow the loop does not sleep, but looks at all its sockets again and again, which takes a core of
    /// its own: for control loops at 1 kHz, and for two programs on one machine.
    ///
    /// It falls asleep after the given time without a value, and if values have come at a steady rate of 200 a second or
    /// more, 6.25 ms later than that. At a steady rate of 50 or more it sleeps between them, and is awake again an eighth of
    /// the period before the next is due. Nothing else changes: other connections of the loop are served as ever. While other
    /// work wants the same core it tries another one, and then sleeps as usual, as it always does where there is only one.
    ///
    /// A control loop that runs there (``ElementalDevice/onTick(every:perform:)``) is called on time.
    ///
    /// - Parameter time: how long the loop stays awake after a value, at most 100 ms.
    public static func lowest(holding time: Duration) -> Latency {
        Latency(hold: min(max(time, .zero), .milliseconds(100)))
    }
}
