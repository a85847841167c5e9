import ClientTransport
public import Logging
import NIOSSL

/// Builds a connection.
///
/// ```swift
/// let connection = HubConnectionBuilder(url: "https://example.org/chat").withAutoReconnect().build()
/// ```
public struct HubConnectionBuilder: Sendable {
    private let url: String
    private var hubProtocol = HubProtocol.json
    private var policy: (any ReconnectionPolicy)?
    private var options = HubConnectionOptions()
    private var logger = Logger(label: "SignalR", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Creates a builder for the hub at an address that begins with `http`, `https`, `ws` or `wss`.
    ///
    /// An invalid address is reported by ``HubConnection/start()``.
    public init(url: String) { self.url = url }

    /// Reconnects when the connection is lost: at once, then after 2, 10 and 30 s.
    public func withAutoReconnect() -> Self { withAutoReconnect(.standard) }

    /// Reconnects after these delays when the connection is lost, and then gives up.
    public func withAutoReconnect(delays: [Duration]) -> Self { withAutoReconnect(ListedDelays(delays)) }

    /// Reconnects when the connection is lost, according to a policy such as `.exponential()`.
    public func withAutoReconnect(_ policy: some ReconnectionPolicy) -> Self { changed { $0.policy = policy } }

    /// Uses another hub protocol than JSON.
    public func withHubProtocol(_ hubProtocol: HubProtocol) -> Self { changed { $0.hubProtocol = hubProtocol } }

    /// Uses these transports only.
    public func withTransports(_ transports: TransportKind...) -> Self {
        changed { $0.options.transports = Set(transports) }
    }

    /// Opens a WebSocket without negotiating with the server.
    public func withoutNegotiation() -> Self {
        changed {
            $0.options.skipsNegotiation = true
            $0.options.transports = [.webSockets]
        }
    }

    /// Resumes a broken connection without losing a message, where the server supports it.
    ///
    /// - Parameter bufferSize: bytes of sent messages that are kept until the server acknowledges them.
    public func withStatefulReconnect(bufferSize: Int = 100_000) -> Self {
        changed {
            $0.options.usesStatefulReconnect = true
            $0.options.statefulReconnectBufferSize = bufferSize
        }
    }

    /// Sends these headers with every request, in addition to those set before.
    public func withHeaders(_ headers: [String: String]) -> Self {
        changed { $0.options.headers.merge(headers) { $1 } }
    }

    /// Gets an access token from `provider` before each request and connection.
    public func withAccessToken(_ provider: @escaping AccessTokenProvider) -> Self {
        changed { $0.options.accessTokenProvider = provider }
    }

    /// Trusts these certificates in addition to the system's, for example the self-signed certificate of a hub.
    ///
    /// - Parameter pem: the content of a file with one or more certificates in PEM form.
    /// - Throws: ``SignalRError/Code/invalidOptions`` if there is no certificate in it.
    public func withTrustedCertificates(pem: some Sequence<UInt8>) throws(SignalRError) -> Self {
        do {
            let tls = try options.tlsConfiguration.trusting(pem: pem)
            return changed { $0.options.tlsConfiguration = tls }
        } catch {
            throw SignalRError(.invalidOptions, "these are not certificates in PEM form", cause: error)
        }
    }

    /// Logs to `logger`.
    public func withLogging(_ logger: Logger) -> Self { changed { $0.logger = logger } }

    /// Logs messages of at least this level to standard error, under the label `SignalR`.
    public func withLogging(minimum level: Logger.Level) -> Self {
        var logger = Logger(label: "SignalR", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = level
        return withLogging(logger)
    }

    /// Changes any of the options.
    public func withOptions(_ change: (inout HubConnectionOptions) -> Void) -> Self { changed { change(&$0.options) } }

    /// Returns the connection, which is not started.
    public func build() -> HubConnection {
        HubConnection(url: url, codec: hubProtocol.codec, policy: policy, options: options, logger: logger)
    }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var builder = self
        change(&builder)
        return builder
    }
}
