import NIOCore

extension HubConnection {
    /// Handles the hub's calls of a method.
    ///
    /// ```swift
    /// connection.on("AddMessage") { (user: String, message: String) in print("\(user): \(message)") }
    /// ```
    ///
    /// A method can have several handlers. Handlers run one at a time, in the order of the messages. A call whose
    /// arguments are of other types is logged; arguments beyond the handler's are ignored. Method names are
    /// case-insensitive.
    @discardableResult
    public nonisolated func on<each Parameter: Decodable & Sendable>(
        _ method: String, _ handler: @escaping @Sendable (repeat each Parameter) async throws -> Void
    ) -> HandlerRegistration {
        handlers.add(method) { (arguments: HubArguments) async throws -> Void in
            var reader = try ArgumentReader(arguments)
            try await handler(repeat try reader.next((each Parameter).self))
        }
    }

    /// Handles the hub's calls of a method and returns a result to the hub.
    ///
    /// ```swift
    /// connection.on("Confirm") { (question: String) -> Bool in ask(question) }
    /// ```
    ///
    /// A method has one such handler: a later one replaces an earlier. It runs in a task of its own, which is cancelled
    /// if the hub cancels the call. If it throws, the error's description is sent to the hub.
    @discardableResult
    public nonisolated func on<each Parameter: Decodable & Sendable, Result: Encodable & Sendable>(
        _ method: String, _ handler: @escaping @Sendable (repeat each Parameter) async throws -> Result
    ) -> HandlerRegistration {
        handlers.add(method) { [codec] (arguments: HubArguments) async throws -> ByteBuffer in
            var reader = try ArgumentReader(arguments)
            return try codec.encode(try await handler(repeat try reader.next((each Parameter).self)))
        }
    }

    /// Handles the hub's calls of a method with any number of arguments.
    ///
    /// ```swift
    /// connection.on("Numbers") { arguments in total += try arguments.decodeAll(Int.self).reduce(0, +) }
    /// ```
    @discardableResult
    public nonisolated func onAny(
        _ method: String, _ handler: @escaping @Sendable (HubArguments) async throws -> Void
    ) -> HandlerRegistration {
        handlers.add(method, handler)
    }

    /// Removes all handlers of a method. ``HandlerRegistration/cancel()`` removes a single one.
    public nonisolated func off(_ method: String) { handlers.removeAll(method) }

    // MARK: - Lifecycle

    /// Calls `handler` when ``start()`` has opened the connection.
    @discardableResult
    public nonisolated func onOpened(_ handler: @escaping @Sendable () -> Void) -> HandlerRegistration {
        onEvent { if case .opened = $0 { handler() } }
    }

    /// Calls `handler` when ``start()`` has failed.
    @discardableResult
    public nonisolated func onFailedToOpen(_ handler: @escaping @Sendable (SignalRError) -> Void) -> HandlerRegistration
    {
        onEvent { if case .failedToOpen(let error) = $0 { handler(error) } }
    }

    /// Calls `handler` when the connection is lost and will be reconnected, with the reason if there is one.
    @discardableResult
    public nonisolated func onWillReconnect(_ handler: @escaping @Sendable (SignalRError?) -> Void)
        -> HandlerRegistration
    {
        onEvent { if case .willReconnect(let error) = $0 { handler(error) } }
    }

    /// Calls `handler` when the connection was reconnected.
    @discardableResult
    public nonisolated func onDidReconnect(_ handler: @escaping @Sendable () -> Void) -> HandlerRegistration {
        onEvent { if case .didReconnect = $0 { handler() } }
    }

    /// Calls `handler` when the connection is closed, with the error if it was not an orderly close.
    @discardableResult
    public nonisolated func onClosed(_ handler: @escaping @Sendable (SignalRError?) -> Void) -> HandlerRegistration {
        onEvent { if case .closed(let error) = $0 { handler(error) } }
    }

    // MARK: - On the event loop

    private static var maximumAnswers: Int { 10_000 }
    /// With more handlers than this running, or for larger network reads, a call's arguments are copied: a slice would
    /// keep the whole read alive for as long as its handler runs.
    private static var slicedAnswers: Int { 100 }
    private static var slicedPiece: Int { 1 << 20 }

    func handleInvocation(_ id: String?, _ arguments: HubArguments, _ session: HubSession) {
        let entry = handlers[arguments.method]
        if entry == nil { logger.debug("no handler", metadata: ["method": "\(arguments.method)"]) }
        if entry?.listeners.isEmpty == false, !queue.add(arguments, piece: receivedPieces) {
            let limit = options.maximumUndeliveredSize
            return overflow("the handlers are too slow: \(limit) bytes of calls are queued", session)
        }
        guard let responder = entry?.responder else {
            if let id { transmitAnswer(id, .error("Client didn't provide a result."), session) }
            return
        }
        guard session.answers.count < Self.maximumAnswers else {
            return overflow("the handlers are too slow: \(session.answers.count) of them are running", session)
        }
        guard session.answers.size + arguments.array.readableBytes <= options.maximumUndeliveredSize else {
            let what = "the handlers are too slow: they hold \(session.answers.size) bytes of arguments"
            return overflow(what, session)
        }
        let isSlice = session.answers.count < Self.slicedAnswers && arguments.array.storageCapacity <= Self.slicedPiece
        // The handler runs also if the hub did not ask for a result.
        answer(id, isSlice ? arguments : arguments.compacted, responder.body, session)
    }

    private func overflow(_ what: String, _ session: HubSession) {
        over(session, SignalRError(.bufferOverflow, what), mayReconnect: true)
    }

    private func answer(
        _ id: String?, _ arguments: HubArguments, _ responder: @escaping MethodHandlers.Responder, _ session: HubSession
    ) {
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
                guard session === self.session, session.answers.finish(id, number), let id else { return }
                self.transmitAnswer(id, completion, session)
            }
        }
    }
}
