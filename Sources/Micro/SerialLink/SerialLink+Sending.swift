extension SerialLink {
    /// Handles timeouts: repeats packets that were not acknowledged in time, and detects that the peer is gone.
    ///
    /// Call it every few milliseconds, or after ``delay(at:)``.
    /// - Parameter now: the time in milliseconds.
    public mutating func tick(at now: UInt32) -> Event? {
        guard isOpen else {
            if now &- openSentAt >= Self.openInterval { isOpenDue = true }
            return nil
        }
        if now &- heardAt >= Self.silence {
            restart()
            return .closed
        }
        if next != oldest, now &- waitingSince >= roundTrip.timeout {
            roundTrip.backOff()
            goBack(at: now)
        }
        if now &- sentAt >= Self.keepAlive { isAcknowledgementDue = true }
        return nil
    }

    /// Returns the milliseconds until ``tick(at:)`` has something to do, unless something is received or written
    /// before.
    public func delay(at now: UInt32) -> UInt32 {
        func rest(_ since: UInt32, _ time: UInt32) -> UInt32 {
            let passed = now &- since
            return passed >= time ? 0 : time - passed
        }
        guard isOpen else { return isOpenDue ? 0 : rest(openSentAt, Self.openInterval) }
        var delay = min(rest(heardAt, Self.silence), rest(sentAt, Self.keepAlive))
        if next != oldest { delay = min(delay, rest(waitingSince, roundTrip.timeout)) }
        return delay
    }

    /// Returns the next byte for the line, or `nil` if there is nothing to send now.
    public mutating func nextByte(at now: UInt32) -> UInt8? {
        if packetPosition == packetEnd, !makePacket(at: now) { return nil }
        defer { packetPosition += 1 }
        return packet[packetPosition]
    }

    /// Fills `buffer` with the next bytes for the line.
    ///
    /// - Returns: the number of bytes.
    public mutating func transmit(into buffer: UnsafeMutableRawBufferPointer, at now: UInt32) -> Int {
        var count = 0
        while count < buffer.count, let byte = nextByte(at: now) {
            buffer[count] = byte
            count += 1
        }
        return count
    }

    /// The maximum number of bytes that a packet to the peer can carry.
    var maximumPayloadByteCount: Int {
        min(configuration.packetByteCount - Packet.overheadByteCount, peerPayloadByteCount)
    }

    /// Makes the next packet to send.
    ///
    /// - Returns: whether there is one.
    private mutating func makePacket(at now: UInt32) -> Bool {
        let count: Int
        if isOpen {
            let payload = payloadToSend
            guard payload > 0 || isAcknowledgementDue else {
                // The line becomes quiet: a delimiter before the next packet ends any stray bytes received until then.
                isDelimiterDue = true
                return false
            }
            count = makeData(payload, at: now)
        } else {
            guard isOpenDue else { return false }
            count = makeOpen(at: now)
        }
        // The first byte is for a delimiter, the second for the code of COBS.
        packetEnd = 1 + Packet.seal(packet + 1, bodyByteCount: count)
        packet[0] = 0
        packetPosition = isDelimiterDue ? 0 : 1
        isDelimiterDue = !isOpen
        sentAt = now
        return true
    }

    private mutating func makeOpen(at now: UInt32) -> Int {
        let body = packet + 2
        body[0] = Packet.open
        body[1] = Packet.version
        Packet.store(ownTag, body, 2)
        Packet.store(peerTag, body, 4)
        body[6] = UInt8(configuration.packetByteCount - Packet.framingByteCount)
        body[7] = window
        isOpenDue = false
        openSentAt = now
        return Packet.headerByteCount
    }

    private mutating func makeData(_ payload: Int, at now: UInt32) -> Int {
        let body = packet + 2
        body[0] = Packet.data | (isRepetitionDue ? Packet.repeatFlag : 0)
        Packet.store(peerTag, body, 1)
        Packet.store(next, body, 3)
        Packet.store(expected, body, 5)
        body[7] = isReceiving ? window : 0
        isAcknowledgementDue = false
        isRepetitionDue = false
        guard payload > 0 else { return Packet.headerByteCount }
        var index = head + Int(next &- oldest)
        if index >= configuration.sendByteCount { index -= configuration.sendByteCount }
        for offset in 0..<payload {
            body[Packet.headerByteCount + offset] = ring[index]
            index += 1
            if index == configuration.sendByteCount { index = 0 }
        }
        if next == oldest { waitingSince = now }
        let isNew = next == furthest
        next &+= UInt16(payload)
        if Int16(bitPattern: next &- furthest) > 0 { furthest = next }
        ends.append(next)
        // Only a new packet is timed: the answer to a repeated one may belong to the first copy (Karn).
        if isNew, timed == nil { timed = (next, now) }
        return Packet.headerByteCount + payload
    }

    private var window: UInt8 { UInt8(configuration.windowByteCount / Packet.windowUnit) }

    /// The number of bytes that the next packet carries: 0 if none are written, or the peer cannot hold more.
    private var payloadToSend: Int {
        let inFlight = Int(next &- oldest)
        let waiting = min(used - inFlight, payloadByteCount)
        guard waiting > 0, ends.count < PacketEnds.capacity else { return 0 }
        // The program will write more as soon as there is room: wait for a whole packet.
        if waiting < payloadByteCount, used == configuration.sendByteCount, inFlight > 0 { return 0 }
        let onLine = inFlight + ends.count * Packet.overheadByteCount
        let room = peerWindow - onLine - Packet.overheadByteCount
        if waiting <= room { return waiting }
        // Cutting a packet to fit the rest of a window would make it small; but with nothing in flight the stream would
        // stop.
        return inFlight == 0 ? max(0, room) : 0
    }
}
