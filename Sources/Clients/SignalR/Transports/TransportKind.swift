/// A way to carry a connection's bytes.
public enum TransportKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// One WebSocket, both ways.
    case webSockets = "WebSockets"
    /// A stream of events from the server, and a POST for what is sent. Carries text only, so not MessagePack.
    case serverSentEvents = "ServerSentEvents"
    /// A request that waits for what the server has to say, again and again, and a POST for what is sent.
    case longPolling = "LongPolling"

    /// The name in the negotiation.
    public var description: String { rawValue }
}
