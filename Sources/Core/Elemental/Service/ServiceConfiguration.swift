public import ElementalHistory
public import Logging
public import NIOCore
import NIOPosix

/// How a service listens, publishes and limits its clients.
public struct ServiceConfiguration: Sendable {
    /// The TCP and UDP port; 0 lets the system choose one that is free for both.
    public var port: Int
    /// The local address to listen on, such as `127.0.0.1`; `nil` for all addresses, IPv4 and IPv6.
    public var address: String?
    /// Whether datagrams are accepted and sent, on the same port number.
    public var allowsUDP: Bool
    /// Which clients are admitted, what those without pairing may do, and what is encrypted.
    public var security: ServiceSecurity
    /// Whether the service is published by Zeroconf.
    public var isPublished: Bool
    /// TXT entries that a browser can show before it connects, in addition to the framework's own.
    public var txt: [String: String]
    /// The maximum number of concurrent devices; further ones are refused with this reason. The process must be allowed
    /// to open as many files and sockets, and some more; ``ElementalService/deviceCapacity`` is the effective maximum.
    public var maximumDeviceCount: Int
    /// The maximum number of concurrent connections from one address; further ones are refused with this reason.
    public var maximumDeviceCountPerAddress: Int
    /// The maximum size of the incomplete values of all connections together, in bytes. A connection that exceeds it is
    /// ended, with this reason.
    public var maximumIncompleteByteCount: Int
    /// Limits on the resources that one connection may use.
    public var limits: DeviceLimits
    /// The store of the values of elements with a history; `nil` keeps them in memory. Only one service can use a store
    /// at a time.
    public var histories: ServiceHistories?
    /// How the event loop waits between values. Each end of a connection decides for itself.
    public var latency: Latency
    /// The group that provides the service's single event loop, on which all its handlers run.
    public var eventLoopGroup: any EventLoopGroup
    /// Where the service logs. By default nothing is logged.
    public var logger: Logger

    /// The clock of the rate limits on connections without a session; tests replace it.
    var acceptClock: @Sendable () -> NIODeadline = { .now() }

    /// Creates a configuration. The default event loop comes from SwiftNIO's singleton group.
    public init(
        port: Int = 0, address: String? = nil, allowsUDP: Bool = true, security: ServiceSecurity = .open,
        isPublished: Bool = true, txt: [String: String] = [:], maximumDeviceCount: Int = 1024,
        maximumDeviceCountPerAddress: Int = 256, maximumIncompleteByteCount: Int = 256 * 1024 * 1024,
        limits: DeviceLimits = DeviceLimits(), histories: ServiceHistories? = nil, latency: Latency = .standard,
        eventLoopGroup: (any EventLoopGroup)? = nil,
        logger: Logger = Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.port = port
        self.address = address
        self.allowsUDP = allowsUDP
        self.security = security
        self.isPublished = isPublished
        self.txt = txt
        self.maximumDeviceCount = maximumDeviceCount
        self.maximumDeviceCountPerAddress = maximumDeviceCountPerAddress
        self.maximumIncompleteByteCount = maximumIncompleteByteCount
        self.limits = limits
        self.histories = histories
        self.latency = latency
        self.eventLoopGroup = eventLoopGroup ?? MultiThreadedEventLoopGroup.singleton
        self.logger = logger
    }
}
