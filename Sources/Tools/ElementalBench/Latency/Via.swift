/// How a program sends and receives the messages whose round trips are measured.
package enum Via: String, Sendable, CaseIterable {
    /// A handler at each end, on its event loop, through the typed API. It needs a bench service.
    case handlers
    /// An async stream at each end, consumed by a task that runs on the connection's event loop. It needs a bench service.
    case streams
    /// An async stream at each end, consumed by a task that runs on Swift's thread pool. It needs a bench service.
    case taskStreams = "task-streams"
    /// The framework's own pings, which any service answers. A task waits for each.
    case ping
}

extension Via {
    /// Its name in a report.
    var title: String {
        switch self {
        case .handlers: "handlers"
        case .streams: "async streams on the event loop"
        case .taskStreams: "async streams on Swift's thread pool"
        case .ping: "pings"
        }
    }
}

/// The sender of round trips at a rate. It sleeps between messages, and each round trip is timed from just before its message is
/// sent.
package enum Pace: String, Sendable, CaseIterable {
    /// The connection's event loop, by ``Elemental/ElementalDevice/onTick(every:perform:)``.
    case timer
    case thread
    /// A task on Swift's thread pool.
    case task
}
