/// The sender of round trips at a rate. It sleeps between messages, and each round trip is timed from just before its message is
/// sent.
enum Pace: String, CaseIterable {
    /// A timer of the event loop that reads the answers.
    case timer
    /// A second thread.
    case thread
    /// A Swift task; for raw C, which has none, a second thread.
    case task
}
