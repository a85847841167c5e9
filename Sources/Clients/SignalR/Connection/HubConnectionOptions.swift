import NIOPosix
public import NIOSSL

/// Gives the access token of each request and connection; `nil` for none.
public typealias AccessTokenProvider = @Sendable () async throws -> String?

/// How a connection is made and kept.
public struct HubConnectionOptions: Sendable {
    /// Sent with every request, that for a WebSocket too.
    public var headers: [String: String] = [:]
    /// Asked before each request and connection, and given up after ``handshakeTimeout``. Without it no token is sent.
    public var accessTokenProvider: AccessTokenProvider?
    /// The transports that may be used. They are tried in the order WebSockets, server-sent events, long polling.
    public var transports: Set<TransportKind> = Set(TransportKind.allCases)
    /// Whether to open a WebSocket without asking the server first. Needs ``transports`` to be WebSockets alone.
    public var skipsNegotiation = false
    /// Whether a broken connection is taken up again without losing a message, where the server can. WebSockets only.
    public var usesStatefulReconnect = false
    /// Bytes of sent messages that are kept until the server acknowledges them. When they are full, senders wait.
    public var statefulReconnectBufferSize = 100_000

    /// After so long without a message to the server it is sent a sign of life.
    public var keepAliveInterval: Duration = .seconds(15)
    /// After so long without anything from the server the connection counts as lost. At least twice what the server's
    /// keep-alive interval is, which by default is 15 s.
    public var serverTimeout: Duration = .seconds(30)
    /// The longest that each step of opening may take: connecting, each answer, the hub's handshake.
    public var handshakeTimeout: Duration = .seconds(15)

    /// Bytes of the largest message that is taken from the server.
    public var maximumMessageSize = 16 << 20
    /// Bytes of messages that wait for their handlers, and of items that wait in each stream. A stream that reaches it
    /// ends with ``SignalRError/Code/bufferOverflow``, and so does the connection if handlers do not keep up.
    public var maximumUndeliveredSize = 64 << 20

    /// TLS's settings: certificates to trust, a certificate of one's own. `nil` for the system's.
    public var tlsConfiguration: TLSConfiguration?
    /// Where the connection's event loop comes from.
    public var eventLoopGroup: MultiThreadedEventLoopGroup = .singleton

    /// The defaults.
    public init() {}
}
