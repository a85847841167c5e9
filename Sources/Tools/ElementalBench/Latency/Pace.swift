/// The sender of round trips at a rate. It sleeps between messages, and each round trip is timed from just before its message is
/// sent.
package enum Pace: String, Sendable, CaseIterable {
    /// The connection's event loop, by ``Elemental/ElementalDevice/onTick(every:perform:)``.
    case timer
    case thread
    /// A task on Swift's thread pool.
    case task
}
