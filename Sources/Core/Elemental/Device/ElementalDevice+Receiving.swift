public import ElementalWire

extension ElementalDevice {
    /// Calls `handler` on the connection's event loop with every value received for the element.
    ///
    /// The handler is first called with the newest value, if one was received before, so that a display is right from
    /// the start. An element may have several handlers; they run in the order in which they were added.
    @discardableResult
    @inlinable
    public func onValue<Value>(
        of element: Element<Value>, perform handler: @escaping @Sendable (Value, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        addHandler(for: element.id) { bytes, device in
            guard let value = Value(received: bytes) else { return device.noteUndecodable(element.id) }
            handler(value, device)
        }
    }

    /// Calls `handler` on the connection's event loop with every value received for the element.
    ///
    /// If values were received before the handler was added, it is first called with the newest of them.
    @discardableResult
    @inlinable
    public func onValue<Value>(
        of element: Element<Value>, perform handler: @escaping @Sendable (Value) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { value, _ in handler(value) }
    }

    /// Calls `handler` on the connection's event loop with the wire bytes of every value received for the element. They
    /// are not decoded: nothing is allocated, not even for texts and data.
    ///
    /// The bytes have passed the same checks as a value, and are valid only during the call. If values were received
    /// before the handler was added, it is first called with the newest of them.
    @discardableResult
    public func onBytes<Value>(
        of element: Element<Value>, perform handler: @escaping @Sendable (RawSpan, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        addHandler(for: element.id) { value, device in handler(value.bytes.bytes, device) }
    }

    /// Calls `handler` with every value received, for any element, as an untyped `ElementValue`.
    ///
    /// If values were received before, it is first called with the newest of each element.
    @discardableResult
    public func onAnyValue(
        _ handler: @escaping @Sendable (ElementDefinition, ElementValue, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        addHandlerForAll { element, bytes, device in
            guard let value = ElementValue(received: bytes, type: element.type) else { return }
            handler(element, value, device)
        }
    }

    /// Records that a handler could not decode a value, for instance JSON of another structure. The first such value of
    /// an element is logged, and a service refuses each. Must be called on the event loop.
    @usableFromInline
    func noteUndecodable(_ id: Int8) {
        let isFirst = state.withLock { state in
            defer { state.inbound.undecodable.insert(id) }
            state.inbound.statistics.messagesMalformed += 1
            return !state.inbound.undecodable.contains(id)
        }
        if isFirst {
            let element = knownElements[id: id]?.name ?? "\(id)"
            logger.warning(
                "a value cannot be decoded; both ends have to define the element alike",
                metadata: ["device": "\(name)", "element": "\(element)"])
        }
        guard let connection = outbound.withLock({ $0.link }) else { return }
        connection.handler.value.refuse(id, .refused)
        connection.wake()
    }

    /// Calls `handler` on the connection's event loop when the service refused a value that this end sent.
    ///
    /// The element's current value, if the service has set one, follows like any other value. Both arrive before the
    /// answer to a ``ping(over:size:timeout:)`` that was sent over TCP after the value. An older ElementalController
    /// refuses silently.
    @discardableResult
    public func onRefusal(
        _ handler: @escaping @Sendable (ElementDefinition, ValueRefusal, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        handlers.addForRefusals(handler)
    }

    var takesRefusals: Bool { hello?.features.contains(.refusals) == true }

    /// The newest value received for the element, or `nil` if there is none.
    public func value<Value>(of element: Element<Value>) -> Value? {
        newest[element.id]?.withUnsafeBytes { Value(wireBytes: $0) }
    }

    /// The newest value received for the element, or `nil` if there is none or it is of another type.
    ///
    /// An ``Element`` is an ``ElementDefinition`` too: for one, the compiler prefers the typed overload.
    @_disfavoredOverload
    public func value(of element: ElementDefinition) -> ElementValue? {
        newest[element.id]?.withUnsafeBytes { ElementValue(wireBytes: $0, type: element.type) }
    }

    /// Calls `handler` on the connection's event loop whenever a value was received for the element.
    ///
    /// - Parameter registered: called once, on the event loop; from then on no value is missed.
    @discardableResult
    package func onArrival(
        of id: Int8, perform handler: @escaping @Sendable () -> Void, registered: @escaping @Sendable () -> Void
    ) -> HandlerRegistration {
        register { [self] token in
            if handlers.add(token, for: id, { _, _ in handler() }) { registered() }
        }
    }

    @usableFromInline
    func addHandler(
        for id: Int8, _ handler: @escaping @Sendable (ReceivedBytes, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        register { [self] token in
            guard handlers.add(token, for: id, handler) else { return }
            newest[id]?.withUnsafeBytes { handler(ReceivedBytes($0), self) }
        }
    }

    func addHandlerForAll(_ handler: @escaping AnyValueHandler) -> HandlerRegistration {
        register { [self] token in
            guard handlers.addForAll(token, handler) else { return }
            let elements = knownElements
            for id in newest.ids {
                guard let element = elements[id: id], let bytes = newest[id] else { continue }
                bytes.withUnsafeBytes { handler(element, ReceivedBytes($0), self) }
            }
        }
    }

    /// Adds a handler and delivers the newest value in one turn of the loop, before the next received value, so that
    /// none is delivered twice or missed.
    private func register(_ add: @escaping @Sendable (_ token: UInt64) -> Void) -> HandlerRegistration {
        let token = handlers.reserve()
        handlers.postpone { add(token) }
        if eventLoop.inEventLoop { handlers.catchUp() } else { eventLoop.execute { [handlers] in handlers.catchUp() } }
        return HandlerRegistration(table: handlers, token: token)
    }

    /// Stops reading from the TCP connection until ``resume()`` has been called the same number of times. What the peer
    /// sends meanwhile waits in the network's buffers and then in the peer's queue. Values that were already read are
    /// still delivered, and so are values in datagrams, which cannot be held back.
    public func pause() {
        let token = addPause()
        state.withLock { $0.inbound.userPauses.append(token) }
    }

    /// Undoes one ``pause()``.
    public func resume() {
        if let token = state.withLock({ $0.inbound.userPauses.popLast() }) { removePause(token) }
    }
}

extension ElementalDevice {
    var isPaused: Bool { state.withLock { !$0.inbound.pauses.isEmpty } }

    /// - Returns: the token for ``removePause(_:)``.
    @usableFromInline
    func addPause() -> UInt64 {
        let (token, isFirst) = state.withLock { state in
            state.inbound.lastPause += 1
            state.inbound.pauses.insert(state.inbound.lastPause)
            let isFirst = state.inbound.pauses.count == 1
            if isFirst { outbound.withLock { $0.isPaused = true } }
            return (state.inbound.lastPause, isFirst)
        }
        // Acknowledgements are not read while paused; pieces that wait for them are sent without them.
        if isFirst { wake() }
        return token
    }

    @usableFromInline
    func removePause(_ token: UInt64) {
        let isFree = state.withLock { state in
            guard state.inbound.pauses.remove(token) != nil, state.inbound.pauses.isEmpty else { return false }
            outbound.withLock { $0.isPaused = false }
            return true
        }
        if isFree { outbound.withLock({ $0.link })?.resumeReading() }
    }
}
