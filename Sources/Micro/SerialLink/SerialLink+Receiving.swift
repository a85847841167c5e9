extension SerialLink {
    /// Takes a byte from the line.
    ///
    /// - Parameter now: the time in milliseconds.
    public mutating func receive(_ byte: UInt8, at now: UInt32) -> Event? {
        switch decoder.take(byte) {
        case .incomplete: return nil
        case .broken: return broken()
        case .body(let count):
            guard let length = Packet.checkedByteCount(decoder.memory, count) else { return broken() }
            let kind = decoder.memory[0] & ~Packet.repeatFlag
            return switch kind {
            case Packet.open: receivedOpen(at: now)
            case Packet.data: receivedData(length, at: now)
            // A packet of a later version.
            default: nil
            }
        }
    }

    private mutating func broken() -> Event? {
        brokenPacketCount &+= 1
        if isOpen {
            isAcknowledgementDue = true
            isRepetitionDue = true
        }
        return nil
    }

    // MARK: Sessions

    private mutating func receivedOpen(at now: UInt32) -> Event? {
        let body = decoder.memory
        let (tag, echo) = (Packet.word(body, 2), Packet.word(body, 4))
        guard body[1] == Packet.version, tag != 0 else { return nil }
        if isOpen {
            // A line keeps the order of bytes: a peer that has received a packet of this session requests another only
            // after a reset. If it repeats the same request, it has received none.
            if tag == peerTag, echo == ownTag {
                isAcknowledgementDue = true
                heardAt = now
                return nil
            }
            close()
            peer(tag, body)
            return .closed
        }
        peer(tag, body)
        guard echo == ownTag else {
            isOpenDue = true
            return nil
        }
        return open(at: now)
    }

    private mutating func peer(_ tag: UInt16, _ body: UnsafePointer<UInt8>) {
        peerTag = tag
        peerPayloadByteCount = max(1, Int(body[6]) - Packet.headerByteCount - Packet.checkByteCount)
        peerWindow = Int(body[7]) * Packet.windowUnit
    }

    /// Opens the session: both ends know each other's tag.
    private mutating func open(at now: UInt32) -> Event {
        isOpen = true
        heardAt = now
        payloadByteCount = maximumPayloadByteCount
        // Informs the peer that its tag is known.
        isAcknowledgementDue = true
        return .opened
    }

    /// Ends the session, so that the next one begins with another tag.
    mutating func close() {
        isOpen = false
        isOpenDue = true
        ownTag = Self.tag(after: ownTag, &random)
        expected = 0
        isAcknowledgementDue = false
        isRepetitionDue = false
        head = 0
        used = 0
        oldest = 0
        next = 0
        furthest = 0
        ends.removeAll()
        cleanCount = 0
        roundTrip = RoundTrip()
        timed = nil
        wentBackAt = nil
        // Drops the rest of a packet of the old session; the delimiter before the next packet ends it.
        packetPosition = 0
        packetEnd = 0
        isDelimiterDue = true
    }

    /// A number for the next session: never 0, never the last one.
    static func tag(after last: UInt16, _ random: inout UInt32) -> UInt16 {
        while true {
            // Xorshift (Marsaglia 2003), which cannot leave 0.
            if random == 0 { random = 0x9E37_79B9 }
            random ^= random << 13
            random ^= random >> 17
            random ^= random << 5
            let tag = UInt16(truncatingIfNeeded: random >> 8)
            if tag != 0, tag != last { return tag }
        }
    }

    // MARK: Data

    private mutating func receivedData(_ length: Int, at now: UInt32) -> Event? {
        let body = decoder.memory
        guard Packet.word(body, 1) == ownTag, peerTag != 0 else {
            // The peer still uses a session that has ended here.
            if !isOpen, now &- openSentAt >= roundTrip.timeout { isOpenDue = true }
            return nil
        }
        guard isOpen else {
            // The acknowledgement that would have opened the session was lost. The peer has to repeat the first bytes.
            isRepetitionDue = length > Packet.headerByteCount
            return open(at: now)
        }
        heardAt = now
        peerWindow = Int(body[7]) * Packet.windowUnit
        acknowledged(Packet.word(body, 5), isRepetitionAsked: body[0] & Packet.repeatFlag != 0, at: now)
        let count = length - Packet.headerByteCount
        guard count > 0 else { return nil }
        isAcknowledgementDue = true
        // A packet that is repeated with another size may begin with bytes that were already received.
        let known = Int(Int16(bitPattern: expected &- Packet.word(body, 3)))
        guard known >= 0 else {
            isRepetitionDue = true
            return nil
        }
        guard known < count, isReceiving else { return nil }
        expected &+= UInt16(count - known)
        isRepetitionDue = false
        return .bytes(UnsafeRawBufferPointer(start: body + Packet.headerByteCount + known, count: count - known))
    }

    private mutating func acknowledged(_ offset: UInt16, isRepetitionAsked: Bool, at now: UInt32) {
        let advance = offset &- oldest
        guard advance <= furthest &- oldest else { return }
        if advance > 0 {
            head += Int(advance)
            if head >= configuration.sendByteCount { head -= configuration.sendByteCount }
            used -= Int(advance)
            oldest = offset
            if Int16(bitPattern: offset &- next) > 0 { next = offset }
            waitingSince = now
            wentBackAt = nil
            roundTrip.recovered()
            if let timed, Int16(bitPattern: offset &- timed.end) >= 0 {
                roundTrip.add(now &- timed.at)
                self.timed = nil
            }
            let removed = ends.remove(through: offset)
            if payloadByteCount < maximumPayloadByteCount {
                cleanCount += removed
                if cleanCount >= 8 {
                    cleanCount = 0
                    payloadByteCount = min(2 * payloadByteCount, maximumPayloadByteCount)
                }
            }
        }
        guard isRepetitionAsked, next != oldest else { return }
        // Every packet after a lost one causes a request; the repetition that is on its way answers them all.
        if let wentBackAt, now &- wentBackAt <= roundTrip.mean { return }
        goBack(at: now)
    }

    /// Sends all unacknowledged bytes again, in smaller packets, of which more get through.
    mutating func goBack(at now: UInt32) {
        repeatedPacketCount &+= UInt32(ends.count)
        next = oldest
        ends.removeAll()
        timed = nil
        wentBackAt = now
        waitingSince = now
        cleanCount = 0
        payloadByteCount = max(payloadByteCount / 2, Self.leastPayloadByteCount)
        isDelimiterDue = true
    }
}
