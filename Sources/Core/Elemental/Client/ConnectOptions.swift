public import Logging
public import NIOCore
import NIOPosix
import Support

/// How a client connects.
public struct ConnectOptions: Sendable {
    /// How long the TCP connection may take, and then the same time again for the handshake.
    public var timeout: Duration
    /// Resource limits of the connection.
    public var limits: DeviceLimits
    /// Whether to open a UDP socket. Without one, elements that use UDP are unavailable.
    public var allowsUDP: Bool
    /// Which services the client connects to, and whether it encrypts the connection.
    public var security: ClientSecurity
    /// What the connection's event loop does between values. Each end decides for itself.
    public var latency: Latency
    /// Whether and when to reconnect after the connection was lost; `nil`, the default, ends the device with its
    /// connection.
    /// The first connection is not retried. A connection that is replaced because the service was paired meanwhile does
    /// not count as lost: one attempt is made even without a policy.
    public var reconnection: (any ReconnectionPolicy)?
    /// Where the connection's event loop comes from.
    public var eventLoopGroup: any EventLoopGroup
    /// The logger of the connection. By default nothing is logged.
    public var logger: Logger

    /// Whether the service at a host and port sends a hello, so that `connect` waits for it. For a discovered service
    /// its TXT record decides.
    package var expectsHello = false
    /// The shared budget for the incomplete and the kept long values of several connections; `nil` for no limit.
    package var memory: ByteBudget?
    /// Called with the length of each value that is dropped while it arrives because ``memory`` is used up.
    package var onLeftOut: (@Sendable (_ element: ElementDefinition, _ byteCount: Int) -> Void)?
    /// Whether values of more than 256 bytes are kept as an element's newest.
    package var keepsLongValues = true

    var network: any ClientNetwork = SystemNetwork()

    /// Creates options; parameters that are left out have their defaults. Event loops come from SwiftNIO's singleton by
    /// default.
    public init(
        timeout: Duration = .seconds(5), limits: DeviceLimits = DeviceLimits(), allowsUDP: Bool = true,
        security: ClientSecurity = .automatic, latency: Latency = .standard,
        reconnection: (any ReconnectionPolicy)? = nil, eventLoopGroup: (any EventLoopGroup)? = nil,
        logger: Logger = Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.timeout = timeout
        self.limits = limits
        self.allowsUDP = allowsUDP
        self.security = security
        self.latency = latency
        self.reconnection = reconnection
        self.eventLoopGroup = eventLoopGroup ?? MultiThreadedEventLoopGroup.singleton
        self.logger = logger
    }
}
