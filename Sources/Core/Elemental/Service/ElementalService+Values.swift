import ElementalHistory
public import ElementalWire

extension ElementalService {
    /// Calls `handler` with every value of the element that a device sends, on the service's event loop.
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

    /// Calls `handler` with every value of the element that a device sends, on the service's event loop.
    @discardableResult
    @inlinable
    public func onValue<Value>(
        of element: Element<Value>, perform handler: @escaping @Sendable (Value) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { value, _ in handler(value) }
    }

    /// Calls `handler` on the service's event loop with the wire bytes of every value of the element that a device
    /// sends. No value is decoded and nothing is allocated, not even for texts and data.
    ///
    /// The bytes have passed the same checks as a value, and are valid only during the call.
    @discardableResult
    public func onBytes<Value>(
        of element: Element<Value>, perform handler: @escaping @Sendable (RawSpan, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        addHandler(for: element.id) { value, device in handler(value.bytes.bytes, device) }
    }

    /// Calls `handler` with every value that a device sends, whatever its element, on the service's event loop.
    @discardableResult
    public func onAnyValue(
        _ handler: @escaping @Sendable (ElementDefinition, ElementValue, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        let token = shared.handlers.reserve()
        shared.handlers.addForAll(token) { element, bytes, device in
            guard let value = ElementValue(received: bytes, type: element.type) else { return }
            handler(element, value, device)
        }
        return HandlerRegistration(table: shared.handlers, token: token)
    }

    /// Sets an element's value and sends it to every device.
    ///
    /// A device that connects later and sends a hello receives the newest value set. One that cannot accept the value
    /// does not keep the others from receiving it.
    /// - Returns: the devices that the value could not be sent to, with the reason of each.
    /// - Throws: ``ElementalError/Code/outOfRange``, ``ElementalError/Code/notAllowed``,
    ///   ``ElementalError/Code/unknownElement``, ``ElementalError/Code/invalidValue`` (4 GiB or more).
    @discardableResult
    @inlinable
    public func send<Value>(_ value: Value, to element: Element<Value>) throws(ElementalError) -> [SendFailure] {
        if !element.allows(value) { throw ElementalDevice.outOfRange(value.elementValue, element.definition) }
        return try (try value.withWireBytes { broadcast(element.definition, $0) }).get()
    }

    /// Sets the value of an element known at run time and sends it to every device.
    ///
    /// - Returns: the devices that the value could not be sent to, with the reason of each.
    /// - Throws: the same errors as the typed form, and ``ElementalError/Code/wrongType`` if the value is of another
    ///   type.
    @discardableResult
    public func send(_ value: ElementValue, to element: ElementDefinition) throws(ElementalError) -> [SendFailure] {
        try ElementalDevice.check(value, element)
        return try (try value.withWireBytes { broadcast(element, $0) }).get()
    }

    /// Sets an element's value and sends it to every device. Suspends while any device's queue is above the high
    /// watermark or has no room for the value, so it is as fast as the slowest device. It does not wait for a device
    /// that disconnects.
    ///
    /// - Returns: the devices that the value could not be sent to, with the reason of each. A full queue is a reason
    ///   only if others send at the same time.
    /// - Throws: ``ElementalError`` as ``send(_:to:)-(Value,Element<Value>)`` does, and with the code
    ///   ``ElementalError/Code/cancelled`` if the task is cancelled; then nothing was sent.
    @discardableResult
    @inlinable
    public func sendWhenReady<Value>(
        _ value: Value, to element: Element<Value>, isolation: isolated (any Actor)? = #isolation
    ) async throws(ElementalError) -> [SendFailure] {
        try await waitForRoom(for: value.wireByteCount, of: element.id)
        return try send(value, to: element)
    }

    /// Waits while the queue of any device is above the high watermark, as
    /// ``ElementalDevice/waitForRoom(for:isolation:)`` does for one.
    ///
    /// - Parameter byteCount: the length of the value to be sent.
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/cancelled`` if the task is cancelled.
    public func waitForRoom(
        for byteCount: Int = 0, isolation: isolated (any Actor)? = #isolation
    ) async throws(ElementalError) {
        try await waitForRoom(for: byteCount, of: nil)
    }

    @usableFromInline
    func waitForRoom(
        for byteCount: Int, of id: Int8?, isolation: isolated (any Actor)? = #isolation
    ) async throws(ElementalError) {
        if Task.isCancelled { throw ElementalError(.cancelled, "the wait for the devices' queues was cancelled") }
        while let device = shared.congestedDevice(for: byteCount, of: id) {
            do throws(ElementalError) {
                try await device.wait(for: byteCount, of: id)
            } catch {
                guard error.code == .notConnected else { throw error }
            }
        }
    }

    /// The value last set for the element, or `nil`.
    public func value<Value>(of element: Element<Value>) -> Value? {
        shared.current.withLock { $0[element.id] }?.withUnsafeBytes { Value(wireBytes: $0) }
    }

    /// The value last set for an element known at run time, or `nil`.
    public func value(of element: ElementDefinition) -> ElementValue? {
        shared.current.withLock { $0[element.id] }?.withUnsafeBytes { ElementValue(wireBytes: $0, type: element.type) }
    }

    /// Forgets the element's value because it is no longer true. A device that connects later gets none until the next
    /// one is sent; connected devices are not notified.
    ///
    /// - Returns: whether there was a value.
    @discardableResult
    public func clearValue(of element: ElementDefinition) -> Bool { shared.current.withLock { $0.clear(element.id) } }

    @usableFromInline
    func addHandler(
        for id: Int8, _ handler: @escaping @Sendable (ReceivedBytes, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        let token = shared.handlers.reserve()
        shared.handlers.add(token, for: id, handler)
        return HandlerRegistration(table: shared.handlers, token: token)
    }

    /// Copies a value, encoded once, into each device's queue.
    @usableFromInline
    func broadcast(
        _ element: ElementDefinition, _ bytes: UnsafeRawBufferPointer, at time: MeasurementTime? = nil
    ) -> Result<[SendFailure], ElementalError> {
        guard element.access.contains(.read) else {
            guard shared.table.type(of: element.id) == element.type else { return .failure(unknown(element)) }
            return .failure(element.notAllowed(to: .client))
        }
        guard bytes.count <= Envelope.maximumValueByteCount else {
            return .failure(SendRefusal.valueTooLarge.error(for: element, length: bytes.count, to: displayName))
        }
        let measured = time
        let now = element.timed && time == nil ? MeasurementTime.now : nil
        let time = element.timed ? time ?? now : nil
        let isPlain = !element.timed && bytes.count < SharedValue.longByteCount
        let prepared = isPlain ? nil : SharedValue(bytes, of: element, at: time)
        // The lock is held until the value is queued everywhere. Otherwise, of two values set concurrently, a device
        // might keep a different one than this service.
        return shared.current.withLock { current in
            guard current.table.type(of: element.id) == element.type else { return .failure(unknown(element)) }
            if case .long(let long, _) = prepared {
                current.set(element.id, long: long)
            } else {
                current.set(element.id, bytes)
            }
            if time != nil || current.hasTimes { current.setTime(of: element.id, time) }
            if current.table.rules[Int(element.id)].isKept {
                let time = (time ?? measured)?.microseconds
                shared.histories.append(element.id, bytes, at: time, now: now?.microseconds)
            }
            var failures: [SendFailure] = []
            devices.forEachUnretained { device in
                do throws(SendRefusal) {
                    if let prepared {
                        try device.queue(element, prepared)
                    } else {
                        try device.queue(element, bytes)
                    }
                } catch {
                    // A client that may not read the element is not a failure.
                    if case .withheld = error { return }
                    let error = error.error(for: element, length: bytes.count, to: device.name)
                    failures.append(SendFailure(device: device, error: error))
                }
            }
            return .success(failures)
        }
    }

    private func unknown(_ element: ElementDefinition) -> ElementalError {
        ElementalError(
            .unknownElement,
            "the service '\(service)' has no element \(element.id) ('\(element.name)') of type \(element.type)")
    }
}

/// A value that is encoded once for the queues of all devices, where its plain bytes are not enough.
private enum SharedValue {
    /// The queues share a long value.
    case long(Data, at: MeasurementTime?)
    /// The value behind its ``TimedValue`` header.
    case timed([UInt8])

    static let longByteCount = 16 * 1024

    /// `nil` if the plain bytes are enough.
    init?(_ bytes: UnsafeRawBufferPointer, of element: ElementDefinition, at time: MeasurementTime?) {
        if bytes.count >= Self.longByteCount, element.takesLongValues {
            self = .long(Data(bytes), at: time)
        } else if let time {
            self = .timed(TimedValue.bytes(element.id, time, bytes))
        } else {
            return nil
        }
    }
}

extension ElementalDevice {
    @inline(never)
    fileprivate func queue(_ element: ElementDefinition, _ value: SharedValue) throws(SendRefusal) {
        switch value {
        case .long(let long, let time): try queue(element, long: long, at: time)
        case .timed(let timed): try queue(element, timed: timed)
        }
    }
}

/// A device that a value could not be sent to.
public struct SendFailure: Sendable {
    /// The device.
    public let device: ElementalDevice
    /// Why the value could not be sent.
    public let error: ElementalError
}

extension ElementalService {
    /// Calls `handler` with every value of the element that a device sends and that can be decoded, on the service's
    /// event loop. Others are refused and counted (``DeviceStatistics/messagesMalformed``).
    @discardableResult
    public func onValue<Value>(
        of element: Element<JSON<Value>>, perform handler: @escaping @Sendable (Value, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { (json: JSON<Value>, device: ElementalDevice) in handler(json.value, device) }
    }

    /// Calls `handler` with every value of the element that a device sends and that can be decoded, on the service's
    /// event loop. Others are refused and counted (``DeviceStatistics/messagesMalformed``).
    @discardableResult
    public func onValue<Value>(
        of element: Element<JSON<Value>>, perform handler: @escaping @Sendable (Value) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { value, _ in handler(value) }
    }

    /// Sets a `Codable` element's value and sends it as JSON to every device.
    ///
    /// - Returns: the devices that the value could not be sent to, with the reason of each.
    /// - Throws: the same errors as for other values, and ``ElementalError/Code/invalidValue`` if the value cannot be
    ///   encoded.
    @discardableResult
    public func send<Value>(_ value: Value, to element: Element<JSON<Value>>) throws(ElementalError) -> [SendFailure] {
        try send(ElementalDevice.json(value, element.definition), to: element)
    }

    /// The value last set for the element, or `nil`.
    public func value<Value>(of element: Element<JSON<Value>>) -> Value? {
        (value(of: element) as JSON<Value>?)?.value
    }
}

extension ElementalService {
    /// Calls `handler` on the service's event loop whenever part of a value of more than 128 KiB has been received from
    /// a device or sent to one; the last call is for the complete value.
    @discardableResult
    public func onProgress(
        _ handler: @escaping @Sendable (TransferProgress, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        shared.handlers.addForProgress(handler)
    }
}
