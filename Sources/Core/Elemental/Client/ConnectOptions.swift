public import Logging
public import NIOCore
import NIOPosix

/// How a client connects.
public struct ConnectOptions: Sendable {
    /// How long the TCP connection and then the handshake may take, each.
    public var timeout: Duration = .seconds(5)
    /// What the connection may take of this process.
    public var limits = DeviceLimits()
    /// Whether the service is known to say hello, so that `connect` waits for it and for the catalogue. Found services
    /// say so in their TXT record; with a host and port, leave it `false` unless you know.
    public var expectsHello = false
    /// Whether to open a UDP socket. Without one, elements over UDP cannot be used.
    public var allowsUDP = true
    /// Whether and when a connection that is lost is made anew; `nil`, the default, ends the device with its connection.
    ///
    /// The first connection is not tried again: `connect` throws why it failed.
    public var reconnection: (any ReconnectionPolicy)?
    /// Where the connection's event loop comes from.
    public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// Where the connection logs. By default nothing is logged.
    public var logger = Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() })

    /// What the client reaches the world by.
    var network: any ClientNetwork = SystemNetwork()

    /// The defaults.
    public init() {}
}
