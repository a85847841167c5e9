/// How a program sends and receives the messages whose round trips are measured.
public enum Via: String, Sendable, CaseIterable {
    /// A handler at each end, on its event loop, through the typed API. It takes a bench service.
    case handlers
    /// An async stream at each end, consumed by a task, through the typed API. It takes a bench service.
    case streams
    /// The framework's own pings, which any service answers. A task waits for each.
    case ping
}

extension Via {
    /// What a report says of it.
    var title: String {
        switch self {
        case .handlers: "handlers"
        case .streams: "async streams"
        case .ping: "pings"
        }
    }
}
