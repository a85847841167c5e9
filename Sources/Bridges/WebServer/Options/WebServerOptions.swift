package import Support

package struct WebServerOptions: Sendable {
    /// The address to listen on. A loopback address means both 127.0.0.1 and ::1, as far as both can be had. Not looked
    /// at with ``acceptsOwnAddresses``, which listens on all addresses.
    package var host = "127.0.0.1"
    /// The TCP port; 0 lets the system choose.
    package var port = 8080
    /// Host names and addresses by which browsers may ask for the server, without port, besides `localhost` and the
    /// address that it listens on.
    package var hosts: Set<String> = []
    /// Listens on all addresses of this machine and answers to each of them, and to the machine's name, also with
    /// `.local`.
    package var acceptsOwnAddresses = false
    /// Where a reverse proxy shows the server: the Host that it passes on, and the Origin of pages that come from there.
    package var publicOrigin: WebOrigin?
    /// From where clients may connect, besides this machine; `nil` for anywhere. A connection from elsewhere is closed at
    /// once.
    package var networks: [IPNetwork]?
    /// Answers requests without Host too, as no browser makes them.
    package var acceptsNoHost = false
    /// The token that browsers and collectors of metrics have to send; `nil` if they need none.
    package var token: String?
    /// The certificate for https; plain http without one.
    package var tls: WebServerTLS?
    package var limits = WebServerLimits()
    /// Called on the server's event loop when the system has closed a listening socket, and when it is open again, with the
    /// port.
    package var onListening: @Sendable (KeptChannel.Event, Int) -> Void = { _, _ in }

    package init() {}

    /// Whether a text can be in ``hosts``: a host name or an IP address, without port.
    package static func isHost(_ text: String) -> Bool { WebHost(option: text) != nil }
}

package struct WebServerTLS: Sendable {
    /// The certificate and then those that signed it, in PEM.
    package var certificateChain: [UInt8]
    /// The private key of the certificate, in PEM.
    package var privateKey: [UInt8]

    package init(certificateChain: [UInt8], privateKey: [UInt8]) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}

package struct WebServerLimits: Sendable {
    /// Connections in all; further ones are answered with status 503.
    package var maximumConnections = 512
    /// Connections from one host, or one IPv6 network.
    package var maximumConnectionsPerHost = 64
    package var maximumLoopbackConnections = 448
    package var maximumWebSockets = 256

    /// Bytes of a request's first line and headers, 1...65,536.
    package var maximumHeadBytes = 16_384
    /// From the first byte of a request, or from accepting the connection, to the end of its head.
    package var headTimeout = Duration.seconds(10)
    package var idleTimeout = Duration.seconds(30)
    /// How long a client may take to receive an answer, and how long a WebSocket may have no room for more.
    package var sendTimeout = Duration.seconds(30)
    /// How long a client that was refused may go on to send what nobody reads.
    package var lingerTimeout = Duration.seconds(1)
    /// Requests that wait for the answer to the one before on a connection.
    package var maximumPipelined = 32
    /// Generated answers that are in the making at once.
    package var maximumComputing = 4
    package var computingTimeout = Duration.seconds(10)

    /// Bytes of a WebSocket message from a browser, at least 125.
    package var maximumMessageBytes = 65_536
    package var maximumFragments = 64
    /// WebSocket frames from a browser each second, on average.
    package var framesPerSecond = 200
    package var frameBurst = 400
    /// Bytes that wait for a slow browser, besides one frame of any size.
    package var maximumOutboundBytes = 4 << 20
    /// Bytes waiting from which a WebSocket is no longer writable.
    package var outboundHighWatermark = 256 << 10
    package var pingInterval = Duration.seconds(20)
    /// How long a browser may send nothing, not even the answer to a ping.
    package var maximumSilence = Duration.seconds(60)
    /// How long a page may take to say who it is, over a WebSocket.
    package var helloTimeout = Duration.seconds(10)
    /// How long the other end may take to answer the closing of a WebSocket.
    package var closeTimeout = Duration.seconds(2)

    /// Wrong tokens of one host within ``wrongTokenPeriod``, after which none of it is looked at.
    package var maximumWrongTokens = 10
    package var wrongTokenPeriod = Duration.seconds(60)

    /// How long ``WebServer/stop()`` waits for the clients.
    package var stopTimeout = Duration.seconds(2)

    package init() {}
}

package struct WebServerError: Error, Equatable, CustomStringConvertible {
    package enum Code: Sendable, CaseIterable {
        /// Another program listens on the port.
        case portTaken
        case permissionDenied
        /// The address is not one of this machine's, or the name is not known.
        case addressUnavailable
        /// The certificate or its key cannot be used.
        case certificate
        /// The server was started before, or has been stopped.
        case stopped
        case other
    }

    package let code: Code
    package let message: String
    package var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
