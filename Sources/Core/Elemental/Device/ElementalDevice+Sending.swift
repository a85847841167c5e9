public import ElementalWire
import Support
import Synchronization

#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#else
public import struct Foundation.Data
#endif

extension ElementalDevice {
    /// Sends a value. Never blocks: the value is queued, or an error is thrown.
    ///
    /// Values sent together are batched into few writes; one sent on an idle connection is written immediately.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/notConnected``,
    ///   ``ElementalError/Code/queueFull``, ``ElementalError/Code/outOfRange``, ``ElementalError/Code/notAllowed``,
    ///   ``ElementalError/Code/emptyValue``, ``ElementalError/Code/udpUnavailable``,
    ///   ``ElementalError/Code/datagramTooLarge``, ``ElementalError/Code/unknownElement``,
    ///   ``ElementalError/Code/invalidValue`` (4 GiB or more, or fewer bytes than the type's `wireByteCount`).
    @inlinable
    public func send<Value>(_ value: Value, to element: Element<Value>) throws(ElementalError) {
        if element.hasLimits, !element.allows(value) {
            throw Self.outOfRange(value.elementValue, element.definition)
        }
        let definition = element.definition
        if let long = value.longWireBytes, definition.takesLongValues { return try enqueue(definition, long: long) }
        let failure = try value.withWireBytes { enqueue(definition, $0) }
        if let failure { throw failure }
    }

    /// Sends a value whose type is only known at run time.
    ///
    /// - Throws: ``ElementalError`` as the other sends do, and with the code ``ElementalError/Code/wrongType`` if the
    ///   value is of another type than the element.
    public func send(_ value: ElementValue, to element: ElementDefinition) throws(ElementalError) {
        try Self.check(value, element)
        if case .data(let data) = value, let long = data.longWireBytes, element.takesLongValues {
            return try enqueue(element, long: long)
        }
        let failure = try value.withWireBytes { enqueue(element, $0) }
        if let failure { throw failure }
    }

    /// - Parameter time: when the value of a timed element was measured; `nil` for now.
    /// - Returns: the error if the value could not be queued.
    @usableFromInline
    func enqueue(
        _ element: ElementDefinition, _ bytes: UnsafeRawBufferPointer, at time: MeasurementTime? = nil
    ) -> ElementalError? {
        guard element.access.contains(role == .service ? .write : .read) else { return element.notAllowed(to: role) }
        do throws(SendRefusal) {
            if let time {
                try queueDeciding(element, bytes, at: time, mayAnswer: true)
            } else {
                try queue(element, bytes, mayAnswer: true)
            }
            return nil
        } catch {
            return error.error(for: element, length: bytes.count, to: name)
        }
    }

    @usableFromInline
    func enqueue(_ element: ElementDefinition, long: Data) throws(ElementalError) {
        guard element.access.contains(role == .service ? .write : .read) else { throw element.notAllowed(to: role) }
        do throws(SendRefusal) {
            try queue(element, long: long)
        } catch {
            throw error.error(for: element, length: long.count, to: name)
        }
    }

    /// The caller has checked range and access.
    ///
    /// - Parameter mayAnswer: whether this thread may write to the socket itself, if the value answers a received one.
    @inline(__always)
    func queue(
        _ element: ElementDefinition, _ bytes: UnsafeRawBufferPointer, mayAnswer: Bool = false
    ) throws(SendRefusal) {
        if outbound.withLock({ $0.appendClear(element, bytes) }) { return }
        try queueDeciding(element, bytes, mayAnswer: mayAnswer)
    }

    /// - Parameter time: when the value of a timed element was measured; `nil` for now.
    @inline(never)
    private func queueDeciding(
        _ element: ElementDefinition, _ bytes: UnsafeRawBufferPointer, at time: MeasurementTime? = nil, mayAnswer: Bool
    ) throws(SendRefusal) {
        // A value that is sent in pieces needs storage of its own, which is allocated before the queue is locked.
        if bytes.count > Envelope.wholeByteCount, bytes.count <= Envelope.maximumValueByteCount, element.takesLongValues
        {
            return try queue(element, long: Data(bytes), at: time)
        }
        if element.timed {
            return try queue(element, timed: TimedValue.bytes(element.id, time ?? .now, bytes), mayAnswer: mayAnswer)
        }
        try queue(over: element.transport, mayAnswer: mayAnswer) { outbound throws(SendRefusal) in
            try outbound.append(element, bytes)
        }
    }

    private func queue(
        over transport: Transport, mayAnswer: Bool,
        _ append: (inout Outbound<Connection>) throws(SendRefusal) -> Connection?
    ) throws(SendRefusal) {
        let (connection, claim) = try outbound.withLock { outbound throws(SendRefusal) in
            let connection = try append(&outbound)
            congestion.note(outbound, after: transport)
            guard mayAnswer, let connection, connection.takesAnswer(over: transport) else {
                return (connection, UInt64?.none)
            }
            return (connection, outbound.claim(transport))
        }
        guard let connection else { return }
        if let claim { write(connection, transport, claim) } else { connection.wake() }
    }

    /// - Parameter timed: the ``TimedValue`` header and, after it, the value.
    func queue(
        _ element: ElementDefinition, timed: [UInt8], mayAnswer: Bool = false
    ) throws(SendRefusal) {
        try queue(over: element.transport, mayAnswer: mayAnswer) { outbound throws(SendRefusal) in
            try outbound.append(element, timed: timed)
        }
    }

    func queue(_ element: ElementDefinition, long: Data, at time: MeasurementTime? = nil) throws(SendRefusal) {
        let time = element.timed ? time ?? .now : nil
        let connection = try outbound.withLock { outbound throws(SendRefusal) in
            let connection = try outbound.append(element, long: long, at: time)
            congestion.note(outbound, after: element.transport)
            return connection
        }
        connection?.wake()
    }

    /// Writes to the socket on this thread, and leaves the bytes that it does not accept to the event loop.
    @inline(never)
    private func write(_ connection: Connection, _ transport: Transport, _ claim: UInt64) {
        var segment = outbound.withLock { $0.takeDirectly(claim, over: transport) }
        let messageCount = segment?.messageCount ?? 0
        segment?.write { first, second in
            switch transport {
            case .tcp: connection.write(first, second)
            case .udp: settle(messageCount: messageCount, connection.write(datagram: first)) ? first.count : 0
            }
        }
        let needsFlush = outbound.withLock { $0.endDirectWrite(claim, segment, over: transport) }
        if needsFlush { connection.wake() }
    }

    /// Counts a datagram that cannot be sent.
    ///
    /// - Returns: `false` if the system had no room for it, so that it must be sent again.
    func settle(messageCount: Int, _ outcome: DatagramSocket.Outcome) -> Bool {
        switch outcome {
        case .taken: return true
        case .full: return false
        case .lost(let reason):
            state.withLock { $0.inbound.statistics.datagramsDropped += 1 }
            logger.debug(
                "datagram not sent",
                metadata: ["device": "\(name)", "messages": "\(messageCount)", "reason": "\(reason)"])
            return true
        }
    }

    package var keptValueCount: Int { outbound.withLock { $0.keptCount } }

    func wake() {
        outbound.withLock { $0.link }?.wake()
    }

    /// Checks access, type and range, by the element's definition only.
    ///
    /// - Throws: ``ElementalError/Code/notAllowed``, ``ElementalError/Code/wrongType``,
    ///   ``ElementalError/Code/outOfRange``.
    package static func checkSetting(_ element: ElementDefinition, to value: ElementValue) throws(ElementalError) {
        guard element.access.contains(.write) else { throw element.notAllowed(to: .service) }
        try check(value, element)
    }

    static func check(_ value: ElementValue, _ element: ElementDefinition) throws(ElementalError) {
        guard value.type == element.type else {
            throw ElementalError(
                .wrongType, "element '\(element.name)' is \(element.type), the value is \(value.type)")
        }
        if !element.allows(value) { throw outOfRange(value, element) }
    }

    @usableFromInline
    static func outOfRange(_ value: ElementValue, _ element: ElementDefinition) -> ElementalError {
        let allowed =
            if !element.choices.isEmpty {
                "one of \(element.choicesText)"
            } else {
                (element.range.map { range in
                    "\(element.type.text(of: range.lowerBound)) to \(element.type.text(of: range.upperBound))"
                } ?? "any")
                    + (element.unit.isEmpty ? "" : " " + element.unit)
                    + (element.type.isVector ? " in each component" : "")
            }
        return ElementalError(
            .outOfRange, "element '\(element.name)' takes \(allowed), not \(value.description.excerpt)")
    }
}

extension ElementDefinition {
    /// Whether a long value is queued without a copy: not in a datagram, and not if a newer value may replace it.
    @usableFromInline var takesLongValues: Bool { transport == .tcp && !latest }

    @inline(never)
    func notAllowed(to peer: ElementalDevice.Role) -> ElementalError {
        ElementalError(
            .notAllowed,
            peer == .service
                ? "element '\(name)' is read-only: the service tells it and takes no value"
                : "element '\(name)' is write-only: the service takes it and tells no value")
    }
}

extension ElementRepresentable {
    /// Encodes the value before the queue is locked: its type may be the program's, and its code may do anything, such
    /// as send another value. Up to 1 KiB is encoded on the stack; text and data are used in place.
    @inlinable
    func withWireBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(ElementalError) -> Result {
        if Self.self == Data.self, let data = self as? Data { return data.withUnsafeBytes(body) }
        if Self.self == String.self, var text = self as? String {
            return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        }
        let length = wireByteCount
        var count = 0
        let result: Result? = withUnsafeTemporaryAllocation(byteCount: length, alignment: 16) { buffer in
            count = write(to: buffer)
            return count == length ? body(UnsafeRawBufferPointer(buffer)) : nil
        }
        guard let result else { throw .wrongByteCount(Self.self, count, of: length) }
        return result
    }
}

extension ElementalError {
    @usableFromInline
    static func wrongByteCount(_ type: Any.Type, _ count: Int, of length: Int) -> ElementalError {
        ElementalError(
            .invalidValue,
            "a value of type \(type) wrote \(count) bytes and has a wireByteCount of \(length); correct the type")
    }
}

extension ElementValue {
    func withWireBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(ElementalError) -> Result {
        switch self {
        case .data(let data): return try data.withWireBytes(body)
        case .string(let text): return try text.withWireBytes(body)
        default:
            return withUnsafeTemporaryAllocation(byteCount: wireByteCount, alignment: 16) { buffer in
                _ = write(to: buffer)
                return body(UnsafeRawBufferPointer(buffer))
            }
        }
    }
}
