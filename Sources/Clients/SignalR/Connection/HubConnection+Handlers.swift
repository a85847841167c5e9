import NIOCore

extension HubConnection {
    /// Handles the hub's calls of a method.
    ///
    /// ```swift
    /// connection.on("AddMessage") { (user: String, message: String) in print("\(user): \(message)") }
    /// ```
    ///
    /// Several handlers can be there for one method. Handlers run one at a time, in the order of the messages; a call
    /// whose arguments are of other types is logged. Arguments beyond the handler's are not looked at. Hubs do not tell
    /// upper from lower case in names.
    @discardableResult
    public nonisolated func on<each Parameter: Decodable & Sendable>(
        _ method: String, _ handler: @escaping @Sendable (repeat each Parameter) async throws -> Void
    ) -> HandlerRegistration {
        register(method) { (arguments: HubArguments) async throws -> Void in
            var reader = try ArgumentReader(arguments)
            try await handler(repeat try reader.next((each Parameter).self))
        }
    }

    /// Handles the hub's calls of a method that wants a result.
    ///
    /// ```swift
    /// connection.on("Confirm") { (question: String) -> Bool in ask(question) }
    /// ```
    ///
    /// There is one such handler for a method: a later one takes the place of an earlier. It runs in a task of its own,
    /// which is cancelled if the hub cancels the call. An error that it throws goes to the hub in words.
    @discardableResult
    public nonisolated func on<each Parameter: Decodable & Sendable, Result: Encodable & Sendable>(
        _ method: String, _ handler: @escaping @Sendable (repeat each Parameter) async throws -> Result
    ) -> HandlerRegistration {
        register(method) { [codec] (arguments: HubArguments) async throws -> ByteBuffer in
            var reader = try ArgumentReader(arguments)
            return try codec.encode(try await handler(repeat try reader.next((each Parameter).self)))
        }
    }

    /// Handles the hub's calls of a method with a varying number of arguments.
    ///
    /// ```swift
    /// connection.on("Numbers") { arguments in total += try arguments.decodeAll(Int.self).reduce(0, +) }
    /// ```
    @discardableResult
    public nonisolated func onAny(
        _ method: String, _ handler: @escaping @Sendable (HubArguments) async throws -> Void
    ) -> HandlerRegistration {
        register(method) { (arguments: HubArguments) async throws -> Void in try await handler(arguments) }
    }

    /// Removes all handlers of a method. One alone is removed by its ``HandlerRegistration/cancel()``.
    public nonisolated func off(_ method: String) { handlers.removeAll(method) }

    private nonisolated func register(
        _ method: String, _ listener: @escaping MethodHandlers.Listener
    ) -> HandlerRegistration {
        registration(of: handlers.add(method, listener))
    }

    private nonisolated func register(
        _ method: String, _ responder: @escaping MethodHandlers.Responder
    ) -> HandlerRegistration {
        registration(of: handlers.add(method, responder))
    }

    private nonisolated func registration(of token: MethodHandlers.Token) -> HandlerRegistration {
        HandlerRegistration { [weak handlers] in handlers?.remove(token) }
    }

    // MARK: - Lifecycle

    /// Tells when ``start()`` has opened the connection.
    @discardableResult
    public nonisolated func onOpened(_ handler: @escaping @Sendable () -> Void) -> HandlerRegistration {
        onEvent { if case .opened = $0 { handler() } }
    }

    /// Tells when ``start()`` has failed.
    @discardableResult
    public nonisolated func onFailedToOpen(_ handler: @escaping @Sendable (SignalRError) -> Void) -> HandlerRegistration
    {
        onEvent { if case .failedToOpen(let error) = $0 { handler(error) } }
    }

    /// Tells when the connection is lost and will be made again.
    @discardableResult
    public nonisolated func onWillReconnect(_ handler: @escaping @Sendable (SignalRError?) -> Void)
        -> HandlerRegistration
    {
        onEvent { if case .willReconnect(let error) = $0 { handler(error) } }
    }

    /// Tells when the connection was made again.
    @discardableResult
    public nonisolated func onDidReconnect(_ handler: @escaping @Sendable () -> Void) -> HandlerRegistration {
        onEvent { if case .didReconnect = $0 { handler() } }
    }

    /// Tells when the connection is closed, with the error if it was not in good order.
    @discardableResult
    public nonisolated func onClosed(_ handler: @escaping @Sendable (SignalRError?) -> Void) -> HandlerRegistration {
        onEvent { if case .closed(let error) = $0 { handler(error) } }
    }

    // MARK: - On the event loop

    /// Handlers with a result that may run at a time.
    private static var maximumAnswers: Int { 10_000 }
    /// From so many on, and out of larger pieces from the network, a call is copied out of its piece: a slice would keep
    /// all of it as long as its handler runs.
    private static var slicedAnswers: Int { 100 }
    private static var slicedPiece: Int { 1 << 20 }

    func handleInvocation(_ id: String?, _ arguments: HubArguments, _ session: HubSession) {
        let entry = handlers[arguments.method]
        if entry == nil { logger.debug("no handler", metadata: ["method": "\(arguments.method)"]) }
        if entry?.listeners.isEmpty == false, !queue.add(arguments, piece: receivedPieces) {
            let limit = options.maximumUndeliveredSize
            return overflow("the handlers do not keep up: \(limit) bytes of calls wait for them", session)
        }
        guard let responder = entry?.responder else {
            if let id { transmitAnswer(id, .error("Client didn't provide a result."), session) }
            return
        }
        guard session.answers.count < Self.maximumAnswers else {
            return overflow("the handlers do not keep up: \(session.answers.count) of them run", session)
        }
        guard session.answers.size + arguments.array.readableBytes <= options.maximumUndeliveredSize else {
            let what = "the handlers do not keep up: \(session.answers.size) bytes of calls are with them"
            return overflow(what, session)
        }
        let isSlice = session.answers.count < Self.slicedAnswers && arguments.array.storageCapacity <= Self.slicedPiece
        // Not asked for a result, the handler runs all the same.
        answer(id, isSlice ? arguments : arguments.compacted, responder.body, session)
    }

    private func overflow(_ what: String, _ session: HubSession) {
        over(session, SignalRError(.bufferOverflow, what), mayReconnect: true)
    }

    private func answer(
        _ id: String?, _ arguments: HubArguments, _ responder: @escaping MethodHandlers.Responder, _ session: HubSession
    ) {
        let sessionNumber = session.number
        session.answers.begin(id, size: arguments.array.readableBytes) { number in
            Task { [logger] in
                let completion: HubCompletion
                do {
                    completion = .value(try await responder(arguments))
                } catch {
                    logger.warning(
                        "a handler failed", metadata: ["method": "\(arguments.method)", "error": "\(error)"])
                    completion = .error("\(error)")
                }
                self.finish(id, number, completion, sessionNumber)
            }
        }
    }

    private func finish(_ id: String?, _ number: UInt64, _ completion: HubCompletion, _ sessionNumber: UInt64) {
        guard let session, session.number == sessionNumber, session.answers.finish(id, number), let id else { return }
        transmitAnswer(id, completion, session)
    }
}
