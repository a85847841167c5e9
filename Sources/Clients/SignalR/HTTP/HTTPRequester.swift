import ClientTransport
import NIOCore
import NIOHTTP1
import Support

/// Sends requests one after the other, over one connection if the server keeps it alive. On its event loop only.
final class HTTPRequester {
    private let dialer: Dialer
    private let maximumIdle: TimeAmount
    private var handler: HTTPHandler?
    private var address: HubAddress?
    private var isClosed = false
    private var current: HTTPExchange?

    var isReading = true { didSet { handler?.isReading = isReading } }

    /// - Parameter maximumIdle: a connection that was idle for longer is not reused. Servers close idle connections, the
    ///   earliest known after 5 s, and a request sent at that moment would be lost or, if repeated, perhaps executed twice.
    init(_ dialer: Dialer, maximumIdle: Duration) {
        self.dialer = dialer
        self.maximumIdle = TimeAmount(maximumIdle)
    }

    /// Sends a request; the previous one must have ended.
    ///
    /// - Parameters:
    ///   - timeout: the maximum time for the whole answer, or for its head if there is an `onHead`.
    ///   - onHead: called when a successful answer begins.
    ///   - onBody: receives the body of a successful answer as it arrives.
    func perform(
        _ request: HTTPRequest, timeout: TimeAmount, onHead: ((HTTPReply) -> Void)? = nil,
        onBody: ((ByteBuffer) -> Void)? = nil
    ) -> EventLoopFuture<HTTPReply> {
        let promise = dialer.eventLoop.makePromise(of: HTTPReply.self)
        let exchange = HTTPExchange(request, promise)
        (exchange.onHead, exchange.onBody) = (onHead, onBody)
        guard !isClosed else {
            exchange.fail(SignalRError(.stopped, "the connection was stopped"))
            return promise.futureResult
        }
        current = exchange
        exchange.deadline = dialer.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [weak self] in
            let (server, seconds) = (request.address.endpoint.authority, timeout.nanoseconds / 1_000_000_000)
            self?.giveUp(exchange, SignalRError(.timedOut, "\(server) did not answer within \(seconds) s"))
        }
        if let handler, handler.isIdle, .now() - handler.idleSince < maximumIdle, let address,
            address.endpoint == request.address.endpoint
        {
            handler.begin(exchange)
        } else {
            handler?.end(SignalRError(.stopped, "no longer needed"))
            handler = nil
            connect(exchange)
        }
        return promise.futureResult
    }

    func close() {
        isClosed = true
        let error = SignalRError(.stopped, "the connection was stopped")
        current.map { giveUp($0, error) }
        handler?.end(error)
    }

    private func giveUp(_ exchange: HTTPExchange, _ error: any Error) {
        guard current === exchange else { return }
        current = nil
        handler?.end(error)
        // Has no effect if it was failed already: a promise takes the first result only.
        exchange.fail(error)
    }

    private func connect(_ exchange: HTTPExchange) {
        let connecting = dialer.connect(to: exchange.request.address.endpoint) { channel in
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
            case .failure(let error): giveUp(exchange, error)
            }
        }
    }
}

final class HTTPExchange {
    let request: HTTPRequest
    let promise: EventLoopPromise<HTTPReply>
    var onHead: ((HTTPReply) -> Void)?
    var onBody: ((ByteBuffer) -> Void)?
    var deadline: Scheduled<Void>?
    var reply: HTTPReply?

    init(_ request: HTTPRequest, _ promise: EventLoopPromise<HTTPReply>) {
        self.request = request
        self.promise = promise
    }

    func fail(_ error: any Error) {
        deadline?.cancel()
        promise.fail(Dialer.explain(error, request.address))
    }
}

extension Dialer {
    static func explain(_ error: any Error, _ address: HubAddress) -> SignalRError {
        let what = "cannot connect to \(address.endpoint.authority)"
        switch ConnectFailure(error) {
        case .timedOut(let reason): return SignalRError(.timedOut, "\(what): \(reason)")
        case .unreachable(let reason): return SignalRError(.connectionFailed, "\(what): \(reason)")
        case .tls(let failure):
            let cause = failure.kind == .noTLS ? failure.adding("; did you mean http:// or ws://?") : failure
            return SignalRError(.tlsFailed, "\(what): TLS failed", cause: cause)
        case .other(let error as SignalRError): return error
        case .other(HTTPParserError.invalidEOFState):
            return SignalRError(
                .connectionLost, "\(address.endpoint.authority) closed the connection in the middle of an answer")
        case .other(let error as HTTPParserError):
            return SignalRError(.protocolViolation, "\(address.endpoint.authority) does not speak HTTP", cause: error)
        case .other(let error): return SignalRError(.connectionFailed, what, cause: error)
        }
    }
}

extension EventLoopFuture where Value: Sendable {
    /// The future's value, or an error at once when the task is cancelled.
    ///
    /// - Parameter dispose: receives a value that arrives after the task was cancelled, to close what it holds.
    func value(
        isolation: isolated (any Actor)? = #isolation, orDispose dispose: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws(SignalRError) -> Value {
        let outcome = Outcome<Result<Value, any Error>>()
        whenComplete { result in
            if !outcome.resolve(result), case .success(let value) = result { dispose(value) }
        }
        guard let result = await outcome.value() else { throw SignalRError(.cancelled, "the task was cancelled") }
        switch result {
        case .success(let value): return value
        case .failure(let error as SignalRError): throw error
        case .failure(let error): throw SignalRError(.connectionFailed, "the connection failed", cause: error)
        }
    }
}
