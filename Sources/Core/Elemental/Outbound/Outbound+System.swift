import ElementalWire

/// Queueing system frames, which are exempt from the limits.
extension Outbound {
    /// Queues a frame; the owner makes sure that a flush follows.
    mutating func appendSystem(
        _ element: SystemElement, over transport: Transport = .tcp, _ bytes: UnsafeRawBufferPointer
    ) {
        switch transport {
        case .tcp where element == .shutdown:
            // The peer reads nothing after a shutdown.
            queueLatest()
            if hasPieces {
                appendPieces(element.rawValue, Data(bytes))
            } else {
                stream.appendSystem(element, bytes)
            }
        case .tcp:
            stream.appendSystem(element, bytes)
            // The hello goes before the first piece.
            isPieceNext = false
        case .udp:
            datagrams.appendSystem(element, bytes)
            return datagrams.flush.schedule()
        }
        stream.flush.schedule()
    }

    /// Queues an answer if there is room, so that a peer that sends requests and does not read cannot fill our memory.
    mutating func appendAnswer(
        _ element: SystemElement, over transport: Transport = .tcp, _ bytes: UnsafeRawBufferPointer
    ) -> Bool {
        if transport == .udp, case .unavailable = datagramState { return false }
        guard self[transport].hasRoom(for: bytes.count) else { return false }
        appendSystem(element, over: transport, bytes)
        return true
    }

    /// - Returns: the connection to wake, if needed.
    mutating func appendRequest(
        _ element: SystemElement, _ bytes: [UInt8], over transport: Transport
    ) throws(SendRefusal) -> Link? {
        _ = try admitAnything()
        if transport == .udp, case .unavailable(let reason) = datagramState { throw .udpUnavailable(reason) }
        let link = transport == .tcp ? wakeForStream() : wakeForDatagrams()
        bytes.withUnsafeBytes { appendSystem(element, over: transport, $0) }
        return link
    }

    /// Moves the `latest` values, which are otherwise sent when nothing else is queued, behind what is queued now.
    private mutating func queueLatest() {
        var values = stream.takeLatest()
        values.removeAll { id, bytes in
            if goesInPieces(Self.plain(id, bytes).id, bytes.count) {
                if id < 0 { appendPieces(bytes) } else { appendPieces(id, Data(bytes)) }
            } else {
                stream.append(id: id, bytes)
            }
        }
    }
}
