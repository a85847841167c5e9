/// A way to transport a connection's messages.
public enum TransportKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// One WebSocket for both directions.
    case webSockets = "WebSockets"
    /// A stream of events from the server, and POSTs to the server. Carries text only, so not MessagePack.
    case serverSentEvents = "ServerSentEvents"
    /// Repeated GETs that the server answers when it has something to send, and POSTs to the server.
    case longPolling = "LongPolling"

    /// The name in the negotiation.
    public var description: String { rawValue }
}
