import ElementalWire

/// Connections that come and go.
extension Outbound {
    /// There is a connection, the first or another one: what was kept is queued.
    ///
    /// - Parameter hasHello: whether the peer has said hello; what an earlier peer said does not hold for one that has
    ///   not.
    mutating func open(_ link: Link, hasHello: Bool) {
        phase = .open(link)
        if !hasHello { peer = PeerAbilities() }
        var values = takeKept()
        values.stream.removeAll { id, bytes in
            requeue(id, over: .tcp, bytes)
        }
        values.datagrams.removeAll { id, bytes in
            requeue(id, over: .udp, bytes)
        }
    }

    /// Queues a value that was kept, unless the peer that there is now cannot be sent it.
    private mutating func requeue(_ id: Int8, over transport: Transport, _ bytes: UnsafeRawBufferPointer) {
        do throws(SendRefusal) {
            _ = try admit(id, over: transport, isLatest: true, length: bytes.count)
            switch transport {
            case .tcp: _ = stream.setLatest(id, bytes)
            case .udp: _ = datagrams.setLatest(id, bytes)
            }
        } catch {
            counts.messagesLost += 1
        }
    }

    /// The connection ends: nothing more enters the queues.
    ///
    /// - Parameter willReconnect: whether another is to take its place. The unsent values of `latest` elements then
    ///   wait for it, for what is still sent now may not be read any more.
    mutating func close(_ reason: DisconnectReason, willReconnect: Bool) {
        guard case .open = phase else { return }
        guard willReconnect else { return phase = .ended(reason) }
        phase = .away(reason)
        if case .open = datagramState { keepsDatagrams = true } else { keepsDatagrams = false }
        kept = (stream.takeLatest(), datagrams.takeLatest())
    }

    /// Empties the queues of a connection that is gone.
    ///
    /// - Parameter unwritten: messages that were being written, and are lost as those in the queues are; `nil` if the
    ///   connection was never ready, so that none was the user's.
    mutating func discardQueues(unwritten: Int?) {
        if let unwritten { counts.messagesLost += unwritten + messagesWaiting }
        stream = OutboundQueue(.stream, limit: stream.limit)
        pieces = PieceQueue()
        datagrams = OutboundQueue(.datagram(udpIdentifier: 0), limit: datagrams.limit)
        unsentDatagram = nil
        isPieceNext = false
        if case .open = datagramState { datagramState = .unavailable("the connection has ended") }
        streamFlush = .idle
        datagramFlush = .idle
    }

    /// The device is over: what was kept is lost.
    mutating func end(_ reason: DisconnectReason) {
        phase = .ended(reason)
        let values = takeKept()
        counts.messagesLost += values.stream.count + values.datagrams.count
    }

    private mutating func takeKept() -> (stream: LatestValues, datagrams: LatestValues) {
        var values = (
            stream: LatestValues(headerByteCount: Envelope.streamByteCount),
            datagrams: LatestValues(headerByteCount: Envelope.datagramByteCount)
        )
        swap(&values, &kept)
        return values
    }

    /// Opens or closes the way for datagrams.
    mutating func setDatagramState(_ state: DatagramState) {
        if case .open(let identifier) = state, case .unavailable = datagramState {
            datagrams = OutboundQueue(.datagram(udpIdentifier: identifier), limit: datagrams.limit)
        }
        datagramState = state
    }
}
