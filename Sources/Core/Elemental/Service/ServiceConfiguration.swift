public import Logging
public import NIOCore
import NIOPosix

/// How a service listens, publishes and limits its clients.
public struct ServiceConfiguration: Sendable {
    /// The TCP and UDP port; 0 lets the system choose one that is free for both.
    public var port = 0
    /// The local address to listen on, such as `127.0.0.1`; `nil` for all addresses, IPv4 and IPv6.
    public var address: String?
    /// Whether datagrams are taken and sent, on the same port number.
    public var allowsUDP = true
    /// Whether the service is published by Zeroconf.
    public var isPublished = true
    /// What a browser can show before it connects, beside the framework's own entries.
    public var txt: [String: String] = [:]
    /// The most devices connected at a time; further ones are refused with this reason. The process must be allowed to
    /// open as many files and sockets, and some more; ``ElementalService/deviceCapacity`` tells how many there can be.
    public var maximumDeviceCount = 1024
    /// The most connections from one address at a time; further ones are refused with this reason.
    public var maximumDeviceCountPerAddress = 256
    /// What values that have not come whole may take of all connections together, in bytes. A connection that sends
    /// more of one then is ended, with this reason.
    public var maximumIncompleteByteCount = 256 * 1024 * 1024
    /// What one connection may take of this process.
    public var limits = DeviceLimits()
    /// Where the service's one event loop comes from, on which all its handlers run.
    public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// Where the service logs. By default nothing is logged.
    public var logger = Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() })

    /// The defaults: any port, all addresses, UDP, published, 1,024 devices.
    public init() {}
}
