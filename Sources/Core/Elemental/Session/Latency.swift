import NIOCore

/// How a connection's event loop waits for the next value: asleep, or awake for a lower latency.
///
/// ```swift
/// options.latency = .lowest
/// ```
public struct Latency: Sendable, Hashable {
    let hold: Duration?

    /// The loop sleeps until something arrives, which costs nothing; waking up takes the system some microseconds.
    public static let standard = Latency(hold: nil)

    /// While values flow, the loop polls all its sockets instead of sleeping: ``lowest(holding:)`` with 500 µs.
    public static let lowest = lowest(holding: .microseconds(500))

    /// While values flow, the loop polls all its sockets instead of sleeping, which takes a core of its own. This is
    /// meant for control loops at 1 kHz, and for two programs on one machine.
    ///
    /// The loop sleeps again after the given time without a value, and 6.25 ms later if values have come at a steady
    /// rate of 200 a second or more. At a steady rate of 50 a second or more, it sleeps between values and wakes up an
    /// eighth of the period before the next one is due. Other connections of the loop are served as usual. While other
    /// work wants the same core, the loop tries another core, and then sleeps as usual; on a machine with a single core
    /// it always sleeps.
    ///
    /// A control loop on this event loop (``ElementalDevice/onTick(every:perform:)``) is called on time.
    ///
    /// - Parameter time: how long the loop stays awake after a value, at most 100 ms.
    public static func lowest(holding time: Duration) -> Latency {
        Latency(hold: min(max(time, .zero), .milliseconds(100)))
    }
}
