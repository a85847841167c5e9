package import Logging
package import NIOCore
internal import NIOPosix
import NIOSSL
internal import Support

/// A small HTTP/1.1 and WebSocket server for a page. Browsers on this network can open the page, and pages of other
/// servers cannot use it. The server answers only GET and HEAD, reads no bodies, and limits everything that a client
/// can consume.
package final class WebServer: Sendable {
    private enum State {
        case new, starting
        case running(Listeners)
        case stopped(Task<Void, Never>)
    }

    /// The event loop on which the server runs.
    package let eventLoop: any EventLoop
    private let options: WebServerOptions
    private let logger: Logger
    private let core: NIOLoopBoundBox<ServerCore>
    /// Open while there are no connections.
    private let empty = Latch()
    private let state = Locked(State.new)

    package init(
        _ options: WebServerOptions, routes: WebRoutes,
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        logger: Logger = Logger(label: "web", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.options = options
        self.logger = logger.printable
        self.eventLoop = eventLoop
        empty.open()
        core = .makeBoxSendingValue(
            ServerCore(options, routes, empty, on: eventLoop, logger: self.logger), eventLoop: eventLoop)
    }

    /// Starts to listen. Call it once. Call ``stop()`` even if it throws.
    @discardableResult
    package func start() async throws -> (host: String, port: Int) {
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .starting
            return true
        }
        guard isNew else { throw WebServerError(.stopped, "a web server can start only once: create another one") }
        let tls = try options.tls.map { try Self.context($0) }
        await eventLoop.run { [core] in core.value.tls = tls }
        let listeners = try await Listeners.bind(options, core, on: eventLoop, logger: logger)
        let isStarted = state.withLock { state in
            guard case .starting = state else { return false }
            state = .running(listeners)
            return true
        }
        guard isStarted else {
            await listeners.close()
            throw WebServerError(.stopped, "the web server was stopped while it started")
        }
        await eventLoop.run { [core] in core.value.listen(at: listeners.address, port: listeners.port) }
        await listeners.accept()
        return (listeners.host, listeners.port)
    }

    /// Closes everything: sends code 1001 to the WebSockets and waits for the clients, at most twice
    /// ``WebServerLimits/stopTimeout``.
    package func stop() async {
        let task = state.withLock { state in
            if case .stopped(let task) = state { return task }
            let listeners: Listeners? = if case .running(let listeners) = state { listeners } else { nil }
            // A separate task, so that a cancelled caller waits for it nevertheless.
            let task = Task { await self.end(listeners) }
            state = .stopped(task)
            return task
        }
        await task.value
    }

    private func end(_ listeners: Listeners?) async {
        // Must come first: afterwards every answer closes its connection.
        await eventLoop.run { [core] in core.value.stop() }
        await listeners?.close()
        _ = await empty.wait(options.limits.stopTimeout, on: eventLoop)
        await eventLoop.run { [core] in core.value.abort() }
        _ = await empty.wait(options.limits.stopTimeout, on: eventLoop)
    }

    package func counts() async -> (connections: Int, sockets: Int) {
        await eventLoop.run { [core] in (core.value.connectionCount, core.value.socketCount) }
    }

    private static func context(_ tls: WebServerTLS) throws -> NIOSSLContext {
        let advice = "give the certificate chain and its key as PEM files without a passphrase"
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMBytes(tls.certificateChain) } catch {
            throw WebServerError(.certificate, "the certificate cannot be read; \(advice)")
        }
        guard !chain.isEmpty else { throw WebServerError(.certificate, "there is no certificate; \(advice)") }
        let key: NIOSSLPrivateKey
        do { key = try NIOSSLPrivateKey(bytes: tls.privateKey, format: .pem) } catch {
            throw WebServerError(.certificate, "the certificate's key cannot be read; \(advice)")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = .seconds(1)
        do { return try NIOSSLContext(configuration: configuration) } catch {
            throw WebServerError(.certificate, "the key does not match the certificate; \(advice)")
        }
    }
}
