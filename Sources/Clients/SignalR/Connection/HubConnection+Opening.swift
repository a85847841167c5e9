import ClientTransport
import NIOCore
import NIOHTTP1

extension HubConnection {
    private static var maximumRedirects: Int { 5 }

    func connect() async throws(SignalRError) -> HubSession {
        try checkOptions()
        let address = try HubAddress(url)
        var headers = Self.ownHeaders
        for (name, value) in options.headers { headers.replaceOrAdd(name: name, value: value) }
        let maker = RequestMaker(
            address: address, headers: headers, token: options.accessTokenProvider, eventLoop: eventLoop,
            timeout: TimeAmount(options.handshakeTimeout))
        if options.skipsNegotiation { return try await attempt(.webSockets, maker, nil).mapError(\.error).get() }

        var failures: [String] = []
        var last: SignalRError?
        var (negotiation, negotiated) = try await negotiate(maker)
        var isUsed = false
        for kind in TransportKind.allCases where options.transports.contains(kind) {
            guard negotiation.offers(kind, isBinary: codec.isBinary) else {
                failures.append("\(kind): the server does not offer it for \(codec.name)")
                continue
            }
            // A connection token is valid for one transport only, even if that failed.
            if isUsed { (negotiation, negotiated) = try await negotiate(maker) }
            isUsed = true
            switch await attempt(kind, negotiated, negotiation) {
            case .success(let session): return session
            case .failure(let failure):
                guard failure.isOfTransport else { throw failure.error }
                failures.append("\(kind): \(failure.error)")
                last = failure.error
                logger.debug("a transport failed", metadata: ["transport": "\(kind)", "error": "\(failure.error)"])
            }
        }
        throw SignalRError(
            .noTransport, "no transport works. " + failures.joined(separator: "; "), httpStatus: last?.httpStatus)
    }

    private func checkOptions() throws(SignalRError) {
        func check(_ isRight: Bool, _ what: String) throws(SignalRError) {
            guard isRight else { throw SignalRError(.invalidOptions, what) }
        }
        let durations = [options.keepAliveInterval, options.serverTimeout, options.handshakeTimeout]
        try check(durations.allSatisfy { $0 > .zero }, "the keep-alive interval and the timeouts must be more than 0")
        for (name, value) in options.headers {
            let what = name.isHeaderName ? "the value of the header '\(name)'" : "the name of a header"
            try check(
                name.isHeaderName && value.isHeaderValue,
                "\(what) contains characters that are not allowed in headers, such as a line end")
        }
        try check(!options.transports.isEmpty, "no transport is allowed: allow at least one: allow at least one")
        try check(
            !options.skipsNegotiation || options.transports == [.webSockets],
            "negotiation can only be skipped if WebSockets is the only transport allowed")
        try check(
            (1...Int(Int32.max)).contains(options.maximumMessageSize),
            "the maximum message size must be 1 to \(Int32.max) bytes")
    }

    private static var ownHeaders: HTTPHeaders {
        HTTPHeaders([("User-Agent", "SignalR-Swift"), ("X-Requested-With", "XMLHttpRequest"), ("Accept", "*/*")])
    }

    // MARK: - Negotiation

    private func negotiate(_ first: RequestMaker) async throws(SignalRError) -> (Negotiation, RequestMaker) {
        var maker = first
        for _ in 0...Self.maximumRedirects {
            let answer = try await askOnce(maker)
            guard let url = answer.url else {
                maker.address = maker.address.adding("id", answer.token)
                return (answer, maker)
            }
            logger.debug("redirected", metadata: ["url": "\(ServerURL.withoutCredentials(url))"])
            let address = try HubAddress(url)
            guard address.endpoint.isSecure || !maker.address.endpoint.isSecure else {
                throw SignalRError(
                    .negotiationFailed,
                    "the server redirected the connection from TLS to \(address.text) without TLS, which is refused")
            }
            if address.endpoint != maker.address.endpoint {
                // The token and the headers are meant for the first server only.
                maker.headers = Self.ownHeaders
                maker.token = nil
            }
            maker.address = address
            if let accessToken = answer.accessToken { maker.token = { accessToken } }
        }
        throw SignalRError(
            .negotiationFailed, "the server redirected the connection more than \(Self.maximumRedirects) times")
    }

    private func askOnce(_ maker: RequestMaker) async throws(SignalRError) -> Negotiation {
        var address = maker.address.negotiation.adding("negotiateVersion", "1")
        if options.usesStatefulReconnect, options.transports.contains(.webSockets) {
            address = address.adding("useStatefulReconnect", "true")
        }
        let headers = try await maker.authorizedHeaders()
        let requester = HTTPRequester(dialer, maximumIdle: options.maximumIdle)
        defer { requester.close() }
        let request = HTTPRequest(method: .POST, address: address, headers: headers)
        let reply = try await requester.perform(request, timeout: TimeAmount(options.handshakeTimeout)).value()
        guard reply.isSuccess else { throw reply.refusal(of: "the negotiation at \(address.text)") }
        return try Negotiation.read(reply.body)
    }

    // MARK: - Transports

    private struct Failure: Error {
        let error: SignalRError
        /// Whether another transport may work.
        let isOfTransport: Bool
    }

    private func attempt(
        _ kind: TransportKind, _ maker: RequestMaker, _ negotiation: Negotiation?
    ) async -> Result<HubSession, Failure> {
        let isStateful = options.usesStatefulReconnect && negotiation?.isStateful == true && kind == .webSockets
        let session = HubSession(
            kind: kind, connectionID: negotiation?.connectionId, maker: maker,
            frames: FrameReader(isBinary: codec.isBinary, maximum: options.maximumMessageSize),
            log: isStateful ? MessageLog(limit: options.statefulReconnectBufferSize) : nil)
        self.session = session
        var isOpen = false
        do throws(SignalRError) {
            try await openTransport(session)
            isOpen = true
            try await performHandshake(session)
            return .success(session)
        } catch {
            // A first poll without an answer counts as open after a while; the server may still refuse it.
            let isAccepted = isOpen && session.transport?.isAccepted ?? true
            session.end()
            return .failure(Failure(error: error, isOfTransport: !isAccepted && !Task.isCancelled))
        }
    }

    /// Opens the session's transport: the first one, or a new one to resume a broken connection.
    func openTransport(_ session: HubSession) async throws(SignalRError) {
        guard session.kind == .webSockets else {
            let transport = HTTPTransport(
                session.kind, dialer, session.maker, options, maximumEvent: maximumPiece, events: events(of: session))
            session.transport = transport
            return try await transport.open().value()
        }
        let headers = try await session.maker.authorizedHeaders()
        let transport = WebSocketTransport(eventLoop: eventLoop, isBinary: codec.isBinary, events: events(of: session))
        session.transport = transport
        let opened = WebSocketUpgrade.open(
            dialer, session.maker.address, headers: headers, transport: transport, maximumFrame: maximumPiece)
        _ = try await opened.value(orDispose: { $0.close(promise: nil) })
    }

    /// Bytes of the largest WebSocket frame or event: one message with its framing, or many small ones.
    private var maximumPiece: Int { max(options.maximumMessageSize + 5, 1 << 20) }

    /// Forwards the transport's events to the session, as long as it is the session's current transport.
    private func events(of session: HubSession) -> TransportEvents {
        session.transports += 1
        let number = session.transports
        return TransportEvents(
            received: { [self] in if session.transports == number { received($0, session) } },
            closed: { [self] in if session.transports == number { transportClosed(session, $0) } },
            becameWritable: { session.releaseSenders() })
    }

    private func performHandshake(_ session: HubSession) async throws(SignalRError) {
        session.transport?.send(HubHandshake.request(codec.name, isStateful: session.log != nil))
        let timeout = options.handshakeTimeout
        let result = await session.handshake.value(within: TimeAmount(timeout), on: eventLoop) {
            .failure(SignalRError(.timedOut, "the hub did not answer the handshake within \(timeout)"))
        }
        guard let result else { throw SignalRError(.cancelled, "the task was cancelled") }
        try result.get()
    }

    /// Checks whether a text is the address of a hub, as ``start()`` does, without connecting.
    ///
    /// - Throws: ``SignalRError/Code/invalidURL`` with the form of a valid address.
    package static func check(url: String) throws(SignalRError) { _ = try HubAddress(url) }
}
