import ElementalWire

extension ElementalService {
    /// Takes bytes of the client's stream.
    func receivedStream(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            switch reader.take(byte) {
            case .incomplete: break
            case .frame(let frame):
                if frame.id < 0 { receivedSystem(frame) } else { receivedValue(frame) }
            case .tooLong:
                malformedCount &+= 1
                disconnected()
                return link.restart()
            }
        }
    }

    private func receivedSystem(_ frame: FrameReader.Frame) {
        switch frame.id {
        case SystemElement.deviceName.rawValue: break
        case SystemElement.hello.rawValue:
            guard !isConnected, let hello = Hello(wireBytes: frame.value) else { return malformedCount &+= 1 }
            features = hello.features
            greeting = .hello
            // The current values follow the greeting.
            for position in 0..<slotCount { slots[position].isDue = slots[position].isSet }
            isAnyDue = true
            connectionHandler?(true)
        case SystemElement.ping.rawValue:
            guard isConnected, frame.length > 0, frame.length <= Self.pingCapacity else { return malformedCount &+= 1 }
            // Only one ping is kept: a client waits for the answer before it sends the next.
            withUnsafeMutableBytes(of: &ping) { $0.copyMemory(from: frame.value) }
            pingByteCount = frame.length
        default: malformedCount &+= 1
        }
    }

    private func receivedValue(_ frame: FrameReader.Frame) {
        guard let position = position(of: frame.id) else { return malformedCount &+= 1 }
        let element = slots[position].element
        if let count = element.type.fixedByteCount, count != frame.length { return malformedCount &+= 1 }
        guard element.access.contains(.write) else { return refuse(position, .notAllowed) }
        guard frame.length <= capacity(of: position) else {
            return refuse(position, .refused, "too long for the device")
        }
        switch check(frame.value, element) {
        case .taken, .refused: break
        case .malformed: return malformedCount &+= 1
        case .outOfRange: return refuse(position, .outOfRange)
        case .notAChoice: return refuse(position, .notAChoice)
        }
        guard let handler = slots[position].handler else { return }
        switch handler(frame.value, self) {
        case .taken, .refused: break
        case .malformed: malformedCount &+= 1
        case .outOfRange: refuse(position, .outOfRange)
        case .notAChoice: refuse(position, .notAChoice)
        }
    }

    /// Schedules a refusal, followed by the current value.
    func refuse(_ position: Int, _ reason: ValueRefusal.Reason, _ message: String = "") {
        rejectedCount &+= 1
        guard isConnected else { return }
        slots[position].refusal = reason.rawValue
        if reason == .refused, refusalTextID < 0 {
            refusalTextID = slots[position].element.id
            refusalText = message
        }
        slots[position].isDue = slots[position].isSet
        isAnyDue = true
    }

    func position(of id: Int8) -> Int? {
        for position in 0..<slotCount where slots[position].element.id == id { return position }
        return nil
    }
}

// How the program handles received values.
extension ElementalService {
    /// Calls `handler` with every value that the client sends for the element, if it is in the element's range and
    /// choices.
    ///
    /// Replaces an earlier handler of the element. Values without a handler are ignored.
    /// - Precondition: the service has the element.
    public func onValue<Value>(of element: Element<Value>, perform handler: @escaping (Value) -> Void) {
        setHandler(element) { bytes, _ in
            guard let value = Value(wireBytes: bytes) else { return .malformed }
            handler(value)
            return .taken
        }
    }

    /// Calls `handler` with the wire form of every value that the client sends for the element.
    ///
    /// Nothing is allocated, not even for texts and data. The bytes have passed the same checks as a value, and are
    /// valid only during the call.
    /// - Precondition: the service has the element.
    public func onBytes(of element: ElementDefinition, perform handler: @escaping (UnsafeRawBufferPointer) -> Void) {
        setHandler(element) { bytes, _ in
            handler(bytes)
            return .taken
        }
    }

    /// Accepts each value of the element that the client sends, and sends it back as the current one.
    ///
    /// - Precondition: the service has the element.
    public func relay(_ element: ElementDefinition) {
        setHandler(element) { bytes, service in service.accept(bytes, element) }
    }

    /// Accepts each value of the element that the client sends, or another in its place, and sends it back as the current
    /// one.
    ///
    /// ```swift
    /// service.relay(Thermostat.target) { target throws(ValueRefusal) in
    ///     guard !isLocked else { throw ValueRefusal("the heater is locked") }
    ///     heater.target = target
    ///     return target
    /// }
    /// ```
    /// - Parameter decide: returns the value to accept, which may differ from the received one; throws to refuse it.
    ///   The client receives at most 23 bytes of the message.
    /// - Precondition: the service has the element.
    public func relay<Value>(
        _ element: Element<Value>,
        deciding decide: @escaping (Value) throws(ValueRefusal) -> Value
    ) {
        setHandler(element) { bytes, service in
            guard let value = Value(wireBytes: bytes) else { return .malformed }
            do throws(ValueRefusal) {
                let taken = try decide(value)
                guard element.access.contains(.read) else { return .taken }
                return service.accept(taken, element)
            } catch {
                service.refuse(element, error)
                return .refused
            }
        }
    }

    /// Sends the client a refusal of its value, and the current value.
    ///
    /// For handlers that check values themselves. A value outside the element's range, or of an element that clients
    /// may not set, is refused before it reaches a handler. The client receives at most 23 bytes of the message.
    public func refuse(_ element: ElementDefinition, _ refusal: ValueRefusal) {
        guard let position = position(of: element.id) else { return }
        refuse(position, refusal.reason, refusal.message)
    }

    private func setHandler(
        _ element: ElementDefinition, _ handler: @escaping (UnsafeRawBufferPointer, ElementalService) -> Slot.Verdict
    ) {
        guard let position = position(of: element) else {
            preconditionFailure("the service has no such element; add it to the service's catalogue")
        }
        slots[position].handler = handler
    }

    /// Checks the bytes of a value without decoding it, so that the program has the code once and not for each type.
    func check(_ bytes: UnsafeRawBufferPointer, _ element: ElementDefinition) -> Slot.Verdict {
        if let count = element.type.fixedByteCount, count != bytes.count { return .malformed }
        guard Self.isForm(bytes, of: element.type) else { return .malformed }
        guard element.allowsChoice(bytes) else { return .notAChoice }
        if let range = element.range, !Self.isWithin(range, bytes, element.type) { return .outOfRange }
        return .taken
    }

    /// Whether a number, or each component of a vector, is within the range.
    private static func isWithin(
        _ range: ClosedRange<Double>, _ bytes: UnsafeRawBufferPointer, _ type: ElementType
    ) -> Bool {
        var offset = 0
        repeat {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            guard let number = number(rest, type), range.contains(number) else { return false }
            offset += 4
        } while type.isVector && offset < bytes.count
        return true
    }

    /// The value as a number, for types that have a range; for a vector its first component.
    private static func number(_ bytes: UnsafeRawBufferPointer, _ type: ElementType) -> Double? {
        var bits: UInt64 = 0
        for index in 0..<min(bytes.count, 8) { bits |= UInt64(bytes[index]) << UInt64(8 * index) }
        return switch type {
        case .int8: double(Int64(Int8(truncatingIfNeeded: bits)))
        case .int16: double(Int64(Int16(truncatingIfNeeded: bits)))
        case .int32: double(Int64(Int32(truncatingIfNeeded: bits)))
        case .int64: double(Int64(bitPattern: bits))
        case .uint8, .uint16, .uint32, .uint64: double(bits)
        case .float, .float2, .float3, .float4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case .double: Double(bitPattern: bits)
        default: nil
        }
    }

    private static func double(_ number: Int64) -> Double {
        number < 0 ? -double(number.magnitude) : double(number.magnitude)
    }

    /// The nearest number, ties to even. `Double(_:)` would link an addition and a multiplication of 3 KB on a core
    /// without a floating point unit.
    static func double(_ number: UInt64) -> Double {
        guard number != 0 else { return 0 }
        let exponent = 63 - number.leadingZeroBitCount
        var fraction = number << UInt64(63 - exponent)
        let rest = fraction & 0x7FF
        fraction >>= 11
        if rest > 0x400 || rest == 0x400 && fraction & 1 == 1 { fraction += 1 }
        // The leading bit, and a carry of the rounding, add to the exponent.
        return Double(bitPattern: UInt64(1022 + exponent) << 52 + fraction)
    }

    /// Whether the bytes, whose length is right, are a value of the type.
    private static func isForm(_ bytes: UnsafeRawBufferPointer, of type: ElementType) -> Bool {
        switch type {
        case .bool: bytes[0] <= 1
        case .string: isUTF8(bytes)
        default: true
        }
    }

    /// Whether the bytes are UTF-8 (Unicode 16, table 3-7).
    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = 0
        var allowed: ClosedRange<UInt8> = 0x80...0xBF
        for byte in bytes {
            if rest > 0 {
                guard allowed.contains(byte) else { return false }
                allowed = 0x80...0xBF
                rest -= 1
                continue
            }
            switch byte {
            case 0..<0x80: break
            case 0xC2...0xDF: rest = 1
            case 0xE0...0xEF:
                rest = 2
                if byte == 0xE0 { allowed = 0xA0...0xBF } else if byte == 0xED { allowed = 0x80...0x9F }
            case 0xF0...0xF4:
                rest = 3
                if byte == 0xF0 { allowed = 0x90...0xBF } else if byte == 0xF4 { allowed = 0x80...0x8F }
            default: return false
            }
        }
        return rest == 0
    }
}
