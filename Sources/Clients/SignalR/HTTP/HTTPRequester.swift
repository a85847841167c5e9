import ClientTransport
import NIOCore
import NIOHTTP1

/// Sends requests one after the other, over one connection if the server keeps it alive. On its event loop only.
final class HTTPRequester {
    /// A connection that was idle for longer is not reused. Servers close idle connections, the earliest known after 5
    /// s, and a request sent at that moment would be lost or, if repeated, perhaps executed twice.
    private static var maximumIdle: TimeAmount { .seconds(4) }

    private let dialer: Dialer
    private var handler: HTTPHandler?
    private var address: HubAddress?
    private var isClosed = false
    private var current: HTTPExchange?

    /// Whether data from the server is read.
    var isReading = true {
        didSet { handler?.isReading = isReading }
    }

    init(_ dialer: Dialer) { self.dialer = dialer }

    /// Sends a request; the previous one must have ended.
    ///
    /// - Parameters:
    ///   - timeout: the longest that the whole answer may take, or its head if there is an `onHead`.
    ///   - onHead: called when a successful answer begins.
    ///   - onBody: receives the body of a successful answer as it arrives.
    func perform(
        _ request: HTTPRequest, timeout: TimeAmount, onHead: ((HTTPReply) -> Void)? = nil,
        onBody: ((ByteBuffer) -> Void)? = nil
    ) -> EventLoopFuture<HTTPReply> {
        let promise = dialer.eventLoop.makePromise(of: HTTPReply.self)
        let exchange = HTTPExchange(request, promise, onHead: onHead, onBody: onBody)
        guard !isClosed else {
            exchange.fail(SignalRError(.stopped, "the connection was stopped"))
            return promise.futureResult
        }
        current = exchange
        exchange.deadline = dialer.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [weak self] in
            let seconds = timeout.nanoseconds / 1_000_000_000
            self?.giveUp(
                exchange, SignalRError(.timedOut, "\(request.address.hostHeader) did not answer within \(seconds) s"))
        }
        if let handler, handler.isIdle, .now() - handler.idleSince < Self.maximumIdle, let address,
            address.isSameServer(as: request.address)
        {
            handler.begin(exchange)
        } else {
            handler?.close(SignalRError(.stopped, "no longer needed"))
            handler = nil
            connect(exchange)
        }
        return promise.futureResult
    }

    /// Closes the connection and fails the request under way.
    func close() {
        isClosed = true
        let error = SignalRError(.stopped, "the connection was stopped")
        current.map { giveUp($0, error) }
        handler?.close(error)
    }

    private func giveUp(_ exchange: HTTPExchange, _ error: SignalRError) {
        guard current === exchange else { return }
        current = nil
        handler?.close(error)
        // Has no effect if it was failed already: a promise takes the first result only.
        exchange.fail(error)
    }

    private func connect(_ exchange: HTTPExchange) {
        let connecting = dialer.connect(to: exchange.request.address) { channel in
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            try channel.pipeline.syncOperations.addHandler(HTTPHandler())
        }
        connecting.assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success(let channel):
                // A host may have several addresses: this is the connection that was established first.
                guard let handler = try? channel.pipeline.syncOperations.handler(type: HTTPHandler.self),
                    current === exchange
                else { return channel.close(promise: nil) }
                self.handler = handler
                handler.isReading = isReading
                address = exchange.request.address
                handler.begin(exchange)
            case .failure(let error):
                guard current === exchange else { return }
                current = nil
                exchange.fail(error)
            }
        }
    }
}

extension HubAddress {
    func isSameServer(as other: HubAddress) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }
}
