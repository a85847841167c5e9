import NIOCore
import NIOPosix
public import NIOSSL
import Support

/// Returns the access token for a request or connection; `nil` for none.
public typealias AccessTokenProvider = @Sendable () async throws -> String?

/// How a connection is opened and kept open.
public struct HubConnectionOptions: Sendable {
    /// Headers that are sent with every request, including the one that opens a WebSocket.
    public var headers: [String: String] = [:]
    /// Returns the access token, before each request and connection and within ``handshakeTimeout``. With `nil`, no
    /// token is sent.
    public var accessTokenProvider: AccessTokenProvider?
    /// The transports that may be used. They are tried in the order WebSockets, server-sent events, long polling.
    public var transports: Set<TransportKind> = Set(TransportKind.allCases)
    /// Whether to open a WebSocket without negotiating first. Requires ``transports`` to be WebSockets only.
    public var skipsNegotiation = false
    /// Whether a broken connection is resumed without losing a message, where the server supports it. WebSockets only.
    public var usesStatefulReconnect = false
    /// Bytes of sent messages that are kept until the server acknowledges them. When this limit is reached, senders
    /// wait.
    public var statefulReconnectBufferSize = 100_000

    /// A ping is sent when nothing was sent to the server for this long.
    public var keepAliveInterval: Duration = .seconds(15)
    /// The connection counts as lost when nothing was received from the server for this long. It should be at least
    /// twice the server's keep-alive interval, which is 15 s by default.
    public var serverTimeout: Duration = .seconds(30)
    /// The maximum time for each step of opening: connecting, each answer, the hub handshake.
    public var handshakeTimeout: Duration = .seconds(15)

    /// The maximum size of a message from the server, in bytes.
    public var maximumMessageSize = 16 << 20
    /// The maximum of bytes in messages that wait for their handlers, and in items buffered in each stream. A stream
    /// that exceeds it ends with ``SignalRError/Code/bufferOverflow``, and so does the connection if handlers do not
    /// keep up.
    public var maximumUndeliveredSize = 64 << 20

    /// TLS settings: certificates to trust, a client certificate. `nil` for the system's defaults.
    public var tlsConfiguration: TLSConfiguration?
    /// Where the connection's event loop comes from.
    public var eventLoopGroup: MultiThreadedEventLoopGroup = .singleton

    /// How long an HTTP connection may be idle before it is not reused, for tests that wait longer.
    var maximumIdle: Duration = .seconds(4)
    /// The time, for tests that set it.
    var now: @Sendable () -> NIODeadline = { .now() }
    /// Waits before an attempt to reconnect, for tests that do not.
    var pause: @Sendable (Duration, any EventLoop) async -> Void = { await Delay.wait($0, on: $1) }

    /// Creates options with the defaults.
    public init() {}
}

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
