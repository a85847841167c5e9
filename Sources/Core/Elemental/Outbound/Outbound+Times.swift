import ElementalWire

/// Values with the time at which they were measured. A peer that does not support times gets the plain value.
extension Outbound {
    private static var timedID: Int8 { SystemElement.timedValue.rawValue }

    /// Queues a value of a timed element. Its length without the time decides its admission and its route.
    ///
    /// - Parameter timed: the value behind its ``TimedValue`` header.
    /// - Returns: the connection to wake, if needed.
    mutating func append(_ element: ElementDefinition, timed: [UInt8]) throws(SendRefusal) -> Link? {
        let length = timed.count - TimedValue.headerByteCount
        guard isAway || takesTime(length, isLatest: element.latest) else {
            return try timed.withUnsafeBytes { bytes in
                Result { () throws(SendRefusal) in try append(element, Self.value(of: bytes)) }
            }.get()
        }
        let route = try admit(element.id, over: element.transport, isLatest: element.latest, length: length)
        if element.transport == .udp, peer.timedValues {
            let limit = Envelope.maximumDatagramValueByteCount - datagramOverhead - TimedValue.headerByteCount
            if length > limit { throw .datagramTooLarge(limit: limit) }
        }
        counts.addMessage(self[element.transport].framing.headerByteCount + timed.count)
        let isReplaced = timed.withUnsafeBytes { timed in
            switch route {
            case .stream: stream.append(id: Self.timedID, timed)
            case .datagrams: datagrams.append(id: Self.timedID, timed)
            case .pieces: appendPieces(timed)
            case .latest: return self[element.transport].setLatest(element.id, as: Self.timedID, timed)
            case .kept: return self[element.transport].kept.set(element.id, as: Self.timedID, timed)
            }
            return false
        }
        if isReplaced { counts.messagesReplaced += 1 }
        guard route != .kept else { return nil }
        return element.transport == .tcp ? wakeForStream() : wakeForDatagrams()
    }

    /// Whether the peer gets a value with its time. A long value of a `latest` element is sent without it to a peer
    /// that does not accept pieces: the time would have to go ahead of the value, and a newer value may replace that.
    func takesTime(_ length: Int, isLatest: Bool) -> Bool {
        peer.timedValues && (!isLatest || peer.pieces || length <= Envelope.wholeByteCount)
    }

    /// Queues the time of the value that is queued next, by the same route.
    mutating func appendTime(_ time: MeasurementTime, of id: Int8, inPieces: Bool) {
        guard peer.timedValues else { return }
        let bytes = TimedValue.ahead(id: id, time: time.microseconds)
        if inPieces {
            let start = stream.queuedMessageCount
            if pieces == nil { pieces = PieceQueue() }
            pieces?.append(id, as: Self.timedID, isValue: false, Data(bytes), after: start)
        } else {
            bytes.withUnsafeBytes { stream.appendSystem(.timedValue, $0) }
        }
    }

    /// Queues a value that a service set earlier: see ``appendCurrent(_:_:)``.
    ///
    /// - Parameter timed: the value behind its ``TimedValue`` header.
    mutating func appendCurrent(timed: UnsafeRawBufferPointer) {
        guard let value = TimedValue(wireBytes: timed) else { return }
        if value.value.count > Envelope.wholeByteCount {
            appendTime(MeasurementTime(microseconds: value.time), of: value.id, inPieces: false)
            appendCurrent(value.id, value.value)
        } else {
            appendCurrent(Self.timedID, timed)
        }
    }

    /// Queues a large value in pieces, and its time ahead of it; a small one whole, behind the large one of its element.
    mutating func appendPieces(_ timed: UnsafeRawBufferPointer) {
        guard let value = TimedValue(wireBytes: timed) else { return }
        if value.value.count > Envelope.wholeByteCount {
            appendTime(MeasurementTime(microseconds: value.time), of: value.id, inPieces: true)
            appendPieces(value.id, Data(value.value))
        } else {
            let start = stream.queuedMessageCount
            if pieces == nil { pieces = PieceQueue() }
            pieces?.append(value.id, as: Self.timedID, Data(timed), after: start)
        }
    }

    /// The element and the plain value of a frame that was queued for a peer that supports times.
    static func plain(_ id: Int8, _ bytes: UnsafeRawBufferPointer) -> (id: Int8, value: UnsafeRawBufferPointer) {
        id == timedID ? (Int8(bitPattern: bytes[0]), value(of: bytes)) : (id, bytes)
    }

    private static func value(of timed: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: timed[TimedValue.headerByteCount...])
    }
}
