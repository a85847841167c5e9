import ElementalWire

extension ElementalService {
    /// Sets an element's value and sends it to the client.
    ///
    /// A client that connects later receives the newest value set.
    /// - Throws: ``SendError``; the element then keeps its earlier value.
    public func send<Value>(_ value: Value, to element: Element<Value>) throws(SendError) {
        let count = value.wireByteCount
        guard count <= scratchByteCount else { throw .tooLong }
        let place = UnsafeMutableRawBufferPointer(start: scratch, count: count)
        guard value.write(to: place) == count else { throw .wrongByteCount }
        try send(bytes: UnsafeRawBufferPointer(place), to: element)
    }

    /// Sets an element's value, given as its bytes on the wire, and sends it to the client. Avoids the allocation of a
    /// text or data.
    ///
    /// - Throws: ``SendError``: ``SendError/outOfRange`` also if the bytes are not a value of the element's type.
    public func send(bytes: UnsafeRawBufferPointer, to element: ElementDefinition) throws(SendError) {
        guard let position = position(of: element) else { throw .unknownElement }
        guard check(bytes, element) == .taken else { throw .outOfRange }
        let isDirect = try admit(bytes.count, position)
        set(position, bytes)
        if isDirect, isSendable(position) { writeValue(position) } else { becomesDue(position) }
    }

    /// Makes an accepted value the current one. Only the newest value counts: a client that sets values faster than the
    /// line carries them receives the last one back.
    func accept(_ bytes: UnsafeRawBufferPointer, _ element: ElementDefinition) -> Slot.Verdict {
        let verdict = check(bytes, element)
        guard verdict == .taken, element.access.contains(.read) else { return verdict }
        guard let position = position(of: element), bytes.count <= capacity(of: position) else { return .malformed }
        set(position, bytes)
        becomesDue(position)
        return .taken
    }

    func accept<Value>(_ value: Value, _ element: Element<Value>) -> Slot.Verdict {
        let count = value.wireByteCount
        let place = UnsafeMutableRawBufferPointer(start: scratch, count: count)
        guard count <= scratchByteCount, value.write(to: place) == count else { return .malformed }
        return accept(UnsafeRawBufferPointer(place), element)
    }

    /// The element's position, or `nil` if the service does not have it with this type.
    func position(of element: ElementDefinition) -> Int? {
        guard let position = position(of: element.id), slots[position].element.type == element.type else { return nil }
        return position
    }

    /// The maximum length of the value, in bytes.
    func capacity(of position: Int) -> Int { slots[position].element.type.fixedByteCount ?? textByteCount }

    private func set(_ position: Int, _ bytes: UnsafeRawBufferPointer) {
        let place = memory + Int(slots[position].offset)
        for index in 0..<bytes.count { place[index] = bytes[index] }
        slots[position].count = UInt16(bytes.count)
        slots[position].isSet = true
    }

    private func becomesDue(_ position: Int) {
        guard isConnected else { return }
        slots[position].isDue = true
        isAnyDue = true
    }

    /// Decides whether a new value of that length can be set.
    ///
    /// - Returns: whether it can go into the queue at once.
    private func admit(_ count: Int, _ position: Int) throws(SendError) -> Bool {
        let slot = slots + position
        guard slot.pointee.element.access.contains(.read) else { throw .notAllowed }
        guard count <= capacity(of: position) else { throw .tooLong }
        // During the greeting no value is queued: the client receives the newest one afterwards.
        guard case .done = greeting else { return false }
        if !slot.pointee.isDue, slot.pointee.refusal == 0, link.room >= Envelope.streamByteCount + count { return true }
        guard slot.pointee.element.latest else { throw .queueFull }
        return false
    }

    /// The value last set for the element, or `nil`.
    public func value<Value>(of element: Element<Value>) -> Value? {
        guard let position = position(of: element), slots[position].isSet else { return nil }
        return Value(wireBytes: bytes(of: position))
    }

    private func bytes(of position: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory + Int(slots[position].offset), count: Int(slots[position].count))
    }

    /// Moves pending output into the link's queue, as far as there is room: the greeting, refusals and values, and last
    /// the answer to a ping. An element's value follows its refusal.
    func sendWhatIsDue() {
        guard isConnected, link.isOpen, sendGreeting() else { return }
        if isAnyDue {
            for position in 0..<slotCount where slots[position].isDue || slots[position].refusal != 0 {
                guard sendRefusal(position), sendValue(position) else { return }
            }
            isAnyDue = false
        }
        guard pingByteCount > 0, link.room >= Envelope.streamByteCount + pingByteCount else { return }
        writeHeader(SystemElement.pong.rawValue, pingByteCount)
        withUnsafeBytes(of: ping) { _ = link.write(UnsafeRawBufferPointer(rebasing: $0[..<pingByteCount])) }
        pingByteCount = 0
    }

    /// Sends the rest of the greeting.
    ///
    /// - Returns: whether all of it is in the queue.
    private func sendGreeting() -> Bool {
        if case .done = greeting { return true }
        if case .hello = greeting {
            guard link.room >= Envelope.streamByteCount + 7 else { return false }
            writeHeader(SystemElement.hello.rawValue, 7)
            write(byte: Hello.currentVersion)
            let features: Hello.Features = [.emptyValues, .catalogue, .ping, .refusals]
            write(UInt64(features.rawValue), byteCount: 4)
            write(0, byteCount: 2)
            greeting = .identity
        }
        if case .identity = greeting {
            let count = SerialIdentity.byteCount(service, displayName)
            guard link.room >= Envelope.streamByteCount + count else { return false }
            writeHeader(SerialIdentity.id, count)
            writeName(service)
            writeName(displayName)
            greeting = features.contains(.wantsCatalogue) ? .catalogue(sent: 0) : .done
        }
        if case .catalogue(var sent) = greeting {
            let count = elements.wireByteCount
            if sent == 0 {
                guard link.room >= 2 * Envelope.streamByteCount else { return false }
                writeHeader(SystemElement.catalogue.rawValue, count)
            }
            while sent < count, link.room > 0 {
                sent += withUnsafeTemporaryBytes { part in
                    let copied = elements.copyWireBytes(from: sent, to: part)
                    return link.write(UnsafeRawBufferPointer(rebasing: part[..<copied]))
                }
            }
            greeting = .catalogue(sent: sent)
            guard sent == count else { return false }
            greeting = .done
        }
        return true
    }

    /// - Returns: false if there is no room.
    private func sendRefusal(_ position: Int) -> Bool {
        let reason = slots[position].refusal
        guard reason != 0 else { return true }
        let id = slots[position].element.id
        // As much of the text as fits into the smallest queue.
        let textByteCount = refusalTextID == id ? min(refusalText.utf8ByteCount, 23) : 0
        if features.contains(.refusals) {
            guard link.room >= Envelope.streamByteCount + 2 + textByteCount else { return false }
            writeHeader(SystemElement.refused.rawValue, 2 + textByteCount)
            write(byte: UInt8(bitPattern: id))
            write(byte: reason)
            write(text: refusalText, textByteCount)
        }
        slots[position].refusal = 0
        if refusalTextID == id { refusalTextID = -1 }
        return true
    }

    /// - Returns: false if there is no room.
    private func sendValue(_ position: Int) -> Bool {
        guard slots[position].isDue else { return true }
        guard isSendable(position) else {
            slots[position].isDue = false
            return true
        }
        guard link.room >= Envelope.streamByteCount + Int(slots[position].count) else { return false }
        writeValue(position)
        slots[position].isDue = false
        return true
    }

    /// An empty value is not sent to a client that does not accept them.
    private func isSendable(_ position: Int) -> Bool {
        slots[position].element.access.contains(.read)
            && (slots[position].count > 0 || features.contains(.emptyValues))
    }

    // MARK: Bytes into the link's queue, in which there is room for them

    private func writeValue(_ position: Int) {
        writeHeader(slots[position].element.id, Int(slots[position].count))
        _ = link.write(bytes(of: position))
    }

    func writeHeader(_ id: Int8, _ length: Int) {
        write(byte: UInt8(bitPattern: id))
        write(UInt64(length), byteCount: 4)
    }

    func write(byte: UInt8) { withUnsafeBytes(of: byte) { _ = link.write($0) } }

    private func write(_ number: UInt64, byteCount: Int) {
        withUnsafeBytes(of: number.littleEndian) { _ = link.write(UnsafeRawBufferPointer(rebasing: $0[..<byteCount])) }
    }

    /// Writes a name, preceded by its length in bytes.
    private func writeName(_ name: String) {
        let byteCount = SerialIdentity.byteCount(of: name)
        write(byte: UInt8(byteCount))
        write(text: name, byteCount)
    }

    private func write(text: String, _ byteCount: Int) {
        text.withBytes { _ = link.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0)[..<byteCount])) }
    }

    /// Lends 32 bytes of the stack for a part of the catalogue.
    private func withUnsafeTemporaryBytes(_ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        var part: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        return withUnsafeMutableBytes(of: &part, body)
    }
}
