import NIOCore
import Support

extension HubConnection {
    /// Calls a method of the hub and waits for its result.
    ///
    /// ```swift
    /// let sum: Int = try await connection.invoke("Add", 1, 2)
    /// ```
    ///
    /// - Parameters:
    ///   - streams: the streams to the hub, one for each stream parameter of the method, in order.
    ///   - headers: sent with the message.
    /// - Throws: ``SignalRError``: ``SignalRError/Code/invocationFailed`` with the hub's message,
    ///   ``SignalRError/Code/invalidResult`` if the result is of another type, and the errors of a connection that is
    ///   not open or is lost. When the task is cancelled, ``SignalRError/Code/cancelled`` at once, and the call is
    ///   cancelled at the hub.
    public nonisolated func invoke<each Argument: Encodable & Sendable, Result: Decodable & Sendable>(
        _ method: String, _ arguments: repeat each Argument, streams: [ClientStream] = [],
        headers: [String: String] = [:], returning: Result.Type = Result.self
    ) async throws(SignalRError) -> Result {
        let bytes = try codec.encodeArguments(repeat each arguments)
        let result = try await call(method, bytes, streams, headers)
        return try codec.decode(Result.self, from: result ?? codec.null)
    }

    /// Calls a method of the hub and waits until it is done. A result is ignored.
    ///
    /// - Throws: the same errors as the form with a result.
    public nonisolated func invoke<each Argument: Encodable & Sendable>(
        _ method: String, _ arguments: repeat each Argument, streams: [ClientStream] = [],
        headers: [String: String] = [:]
    ) async throws(SignalRError) {
        let bytes = try codec.encodeArguments(repeat each arguments)
        _ = try await call(method, bytes, streams, headers)
    }

    /// Calls a method of the hub without waiting for it. Whether it succeeds is not reported.
    ///
    /// Returns when the message is queued; suspends while too much is queued.
    ///
    /// - Throws: ``SignalRError`` if the connection is not open or an argument cannot be encoded.
    public nonisolated func send<each Argument: Encodable & Sendable>(
        _ method: String, _ arguments: repeat each Argument, streams: [ClientStream] = [],
        headers: [String: String] = [:]
    ) async throws(SignalRError) {
        let bytes = try codec.encodeArguments(repeat each arguments)
        try await post(method, bytes, streams, headers)
    }

    /// Calls a method of the hub that returns a stream.
    ///
    /// ```swift
    /// for try await count in try await connection.stream("Counter", 10, of: Int.self) { print(count) }
    /// ```
    ///
    /// - Throws: ``SignalRError`` if the connection is not open or an argument cannot be encoded.
    public nonisolated func stream<each Argument: Encodable & Sendable, Item: Decodable & Sendable>(
        _ method: String, _ arguments: repeat each Argument, streams: [ClientStream] = [],
        headers: [String: String] = [:], of: Item.Type = Item.self
    ) async throws(SignalRError) -> HubStream<Item> {
        let bytes = try codec.encodeArguments(repeat each arguments)
        return HubStream(codec: codec, items: try await openStream(method, bytes, streams, headers))
    }

    // MARK: - Any number of arguments

    /// Calls a method of the hub with arguments whose number is only known at run time, and waits for its result.
    ///
    /// - Throws: as ``invoke(_:_:streams:headers:returning:)``.
    public nonisolated func invoke<Result: Decodable & Sendable>(
        _ method: String, arguments: [any Encodable & Sendable], headers: [String: String] = [:],
        returning: Result.Type = Result.self
    ) async throws(SignalRError) -> Result {
        let result = try await call(method, try codec.encodeArguments(arguments), [], headers)
        return try codec.decode(Result.self, from: result ?? codec.null)
    }

    /// Calls a method of the hub with arguments whose number is only known at run time, without waiting for it.
    ///
    /// - Throws: as ``send(_:_:streams:headers:)``.
    public nonisolated func send(
        _ method: String, arguments: [any Encodable & Sendable], headers: [String: String] = [:]
    ) async throws(SignalRError) {
        try await post(method, try codec.encodeArguments(arguments), [], headers)
    }

    /// Calls a method of the hub that returns a stream, with arguments whose number is only known at run time.
    ///
    /// - Throws: as ``stream(_:_:streams:headers:of:)``.
    public nonisolated func stream<Item: Decodable & Sendable>(
        _ method: String, arguments: [any Encodable & Sendable], headers: [String: String] = [:],
        of: Item.Type = Item.self
    ) async throws(SignalRError) -> HubStream<Item> {
        let bytes = try codec.encodeArguments(arguments)
        return HubStream(codec: codec, items: try await openStream(method, bytes, [], headers))
    }

    // MARK: - On the event loop

    func call(
        _ method: String, _ arguments: ByteBuffer, _ streams: [ClientStream], _ headers: [String: String]
    ) async throws(SignalRError) -> ByteBuffer? {
        let session = try await writableSession()
        let id = session.nextID()
        let outcome = Outcome<Result<ByteBuffer?, SignalRError>>()
        session.pending[id] = .result(outcome)
        invoke(id, method, arguments, streams, headers, session)
        guard let result = await outcome.value() else {
            cancel(id, session)
            throw SignalRError(.cancelled, "the task that called '\(method)' was cancelled")
        }
        return try result.get()
    }

    func post(
        _ method: String, _ arguments: ByteBuffer, _ streams: [ClientStream], _ headers: [String: String]
    ) async throws(SignalRError) {
        invoke(nil, method, arguments, streams, headers, try await writableSession())
    }

    func openStream(
        _ method: String, _ arguments: ByteBuffer, _ streams: [ClientStream], _ headers: [String: String]
    ) async throws(SignalRError) -> ItemBuffer {
        let session = try await writableSession()
        let id = session.nextID()
        let items = ItemBuffer(limit: options.maximumUndeliveredSize) { [weak self, weak session, eventLoop] in
            eventLoop.execute { [self, session] in
                self?.assumeIsolated { connection in
                    if let session, session === connection.session { connection.cancel(id, session) }
                }
            }
        }
        session.pending[id] = .stream(items)
        invoke(id, method, arguments, streams, headers, isStream: true, session)
        return items
    }

    private func cancel(_ id: String, _ session: HubSession) {
        guard session.pending.removeValue(forKey: id) != nil else { return }
        endUploads(of: id, session)
        transmit(.cancelInvocation(id: id), session)
    }

    // MARK: - Streams to the hub

    private func invoke(
        _ id: String?, _ method: String, _ arguments: ByteBuffer, _ streams: [ClientStream],
        _ headers: [String: String], isStream: Bool = false, _ session: HubSession
    ) {
        let ids = streams.map { _ in session.nextID() }
        transmit(
            .invocation(
                id: id, target: method, arguments: arguments, streams: ids, headers: headers, isStream: isStream),
            session)
        for (stream, streamID) in zip(streams, ids) {
            let task = Task { [codec] in
                do {
                    try await stream.forEach(codec) { try await self.upload($0, streamID, session) }
                    self.endUpload(streamID, .void, session)
                } catch {
                    self.endUpload(streamID, .error("\(error)"), session)
                }
            }
            session.uploads[streamID] = (id, task)
        }
    }

    private func upload(_ item: ByteBuffer, _ id: String, _ session: HubSession) async throws(SignalRError) {
        guard try await writableSession() === session, session.uploads[id] != nil else {
            throw SignalRError(.cancelled, "the stream to the hub has ended")
        }
        transmit(.streamItem(id: id, item: item), session)
    }

    private func endUpload(_ id: String, _ completion: HubCompletion, _ session: HubSession) {
        guard session === self.session, session.uploads.removeValue(forKey: id) != nil else { return }
        transmit(.completion(id: id, completion), session)
    }

    func endUploads(of invocation: String, _ session: HubSession) {
        for (id, upload) in session.uploads where upload.invocation == invocation {
            session.uploads[id] = nil
            upload.task.cancel()
        }
    }
}
