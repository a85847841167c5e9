import ElementalWire

extension Outbound {
    /// The connection ends: nothing more enters the queues.
    ///
    /// - Parameter isOutlived: whether another is to take its place. The unsent values of `latest` elements then wait
    ///   for it, for what is still sent now may not be read any more.
    mutating func close(_ reason: DisconnectReason, isOutlived: Bool) {
        guard connection.take() != nil else { return }
        endReason = reason
        isAway = isOutlived
        guard isOutlived else { return }
        if case .open = datagramState { keepsDatagrams = true } else { keepsDatagrams = false }
        for (id, bytes) in stream.takeLatest() { _ = kept.keep(.init(id: id, transport: .tcp, bytes: bytes)) }
        for (id, bytes) in datagrams.takeLatest() { _ = kept.keep(.init(id: id, transport: .udp, bytes: bytes)) }
    }

    /// There is a connection, the first or another one: what was kept is queued.
    ///
    /// - Parameter hasHello: whether the peer has said hello; what an earlier peer said does not hold for one that has not.
    mutating func open(_ connection: Connection, hasHello: Bool) {
        self.connection = connection
        endReason = nil
        isAway = false
        if !hasHello {
            takesEmptyValues = false
            takesPieces = false
            misfits = [:]
        }
        for value in kept.takeAll() where !queue(value) { messagesLost += 1 }
    }

    /// The device is over: what was kept is lost.
    mutating func end(_ reason: DisconnectReason) {
        connection = nil
        endReason = reason
        isAway = false
        messagesLost += kept.takeAll().count
    }

    /// Keeps a value of a `latest` element while there is no connection.
    @inline(never)
    mutating func keep(
        _ element: ElementDefinition, length: Int, write: (UnsafeMutableRawPointer) -> Void
    ) -> Admission {
        guard isAway, element.latest, misfits[element.id] == nil, length > 0 || takesEmptyValues,
            element.transport == .tcp || keepsDatagrams && length <= Envelope.maximumDatagramValueByteCount
        else { return .refused }
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            if let base = buffer.baseAddress { write(UnsafeMutableRawPointer(base)) }
            count = length
        }
        if kept.keep(.init(id: element.id, transport: element.transport, bytes: bytes)) { messagesReplaced += 1 }
        messagesSent += 1
        bytesSent += Envelope.streamByteCount + length
        return .queued
    }

    /// - Returns: whether the peer that there is now can be sent the value.
    private mutating func queue(_ value: KeptValues.Value) -> Bool {
        guard misfits[value.id] == nil, !value.bytes.isEmpty || takesEmptyValues else { return false }
        func copy(to destination: UnsafeMutableRawPointer) {
            value.bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                destination.copyMemory(from: base, byteCount: bytes.count)
            }
        }
        switch value.transport {
        case .tcp:
            _ = stream.replace(id: value.id, length: value.bytes.count, write: copy)
        case .udp:
            guard case .open = datagramState else { return false }
            _ = datagrams.replace(id: value.id, length: value.bytes.count, write: copy)
        }
        return true
    }
}
