package import Support

package struct WebServerOptions: Sendable {
    /// The address to listen on. A loopback address means both 127.0.0.1 and ::1, if both are available. Ignored with
    /// ``acceptsOwnAddresses``, which listens on all addresses.
    package var host = "127.0.0.1"
    /// The TCP port; 0 lets the system choose.
    package var port = 8080
    /// Host names and addresses, without port, that browsers may use for the server, besides `localhost` and the
    /// address that it listens on.
    package var hosts: Set<String> = []
    /// Whether to listen on all addresses of this machine and accept each of them as the host, and the machine's name,
    /// also with `.local`.
    package var acceptsOwnAddresses = false
    /// The address under which a reverse proxy publishes the server: the Host that it passes on, and the Origin of its
    /// pages.
    package var publicOrigin: WebOrigin?
    /// The networks from which clients may connect, besides this machine; `nil` for any. Connections from elsewhere are
    /// closed at once.
    package var networks: [IPNetwork]?
    /// Whether to accept requests without a Host header, which no browser sends.
    package var acceptsNoHost = false
    /// The token that browsers and collectors of metrics have to send; `nil` for none.
    package var token: String?
    /// The certificate for https; `nil` for plain http.
    package var tls: WebServerTLS?
    package var limits = WebServerLimits()
    /// Called on the server's event loop with the port when the system has closed a listening socket, and when it is
    /// open again.
    package var onListening: @Sendable (KeptChannel.Event, Int) -> Void = { _, _ in }

    package init() {}

    /// Returns whether a text is valid in ``hosts``: a host name or an IP address, without port.
    package static func isHost(_ text: String) -> Bool { WebHost(option: text) != nil }
}

package struct WebServerTLS: Sendable {
    /// The certificate, followed by its issuers' certificates, in PEM.
    package var certificateChain: [UInt8]
    /// The private key of the certificate, in PEM.
    package var privateKey: [UInt8]

    package init(certificateChain: [UInt8], privateKey: [UInt8]) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}

package struct WebServerLimits: Sendable {
    /// The maximum number of connections; further ones are answered with status 503.
    package var maximumConnections = 512
    /// The maximum number of connections from one host, or one IPv6 network.
    package var maximumConnectionsPerHost = 64
    package var maximumLoopbackConnections = 448
    package var maximumWebSockets = 256

    /// The maximum bytes of a request's first line and headers, 1...65,536.
    package var maximumHeadBytes = 16_384
    /// The time from the first byte of a request, or from the start of the connection, to the end of its head.
    package var headTimeout = Duration.seconds(10)
    package var idleTimeout = Duration.seconds(30)
    /// How long a client may take to receive an answer, and how long a WebSocket may have no room for more.
    package var sendTimeout = Duration.seconds(30)
    /// How long a refused client may continue to send data, which is discarded.
    package var lingerTimeout = Duration.seconds(1)
    /// The maximum number of pipelined requests that wait on a connection.
    package var maximumPipelined = 32
    /// The maximum number of generated answers in progress.
    package var maximumComputing = 4
    package var computingTimeout = Duration.seconds(10)

    /// The maximum bytes of a WebSocket message from a browser, at least 125.
    package var maximumMessageBytes = 65_536
    package var maximumFragments = 64
    /// The maximum average rate of WebSocket frames from a browser.
    package var framesPerSecond = 200
    package var frameBurst = 400
    /// The maximum bytes that wait for a slow browser. A single larger frame is accepted.
    package var maximumOutboundBytes = 4 << 20
    /// The waiting bytes from which on a WebSocket is not writable.
    package var outboundHighWatermark = 256 << 10
    package var pingInterval = Duration.seconds(20)
    /// How long a browser may send nothing, not even the answer to a ping.
    package var maximumSilence = Duration.seconds(60)
    /// How long a page may take to send its hello over a WebSocket.
    package var helloTimeout = Duration.seconds(10)
    /// How long the peer may take to answer the closing of a WebSocket.
    package var closeTimeout = Duration.seconds(2)

    /// The maximum number of wrong tokens of one host within ``wrongTokenPeriod``; further tokens are not checked.
    package var maximumWrongTokens = 10
    package var wrongTokenPeriod = Duration.seconds(60)

    /// How long ``WebServer/stop()`` waits for the clients to close.
    package var stopTimeout = Duration.seconds(2)

    package init() {}
}

package struct WebServerError: Error, Equatable, CustomStringConvertible {
    package enum Code: Sendable, CaseIterable {
        /// Another program listens on the port.
        case portTaken
        case permissionDenied
        /// The address does not belong to this machine, or the name is unknown.
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
