import ElementalWire

/// Connections that open and close.
extension Outbound {
    /// A connection is ready, the first or a replacement: the kept values are queued.
    ///
    /// - Parameter hasHello: whether the peer has sent a hello; if not, what an earlier peer announced no longer
    ///   applies.
    mutating func open(_ link: Link, hasHello: Bool) {
        phase = .open(link)
        if !hasHello { peer.forgetHello() }
        var values = takeKept()
        values.stream.removeAll { id, bytes in
            requeue(id, over: .tcp, bytes)
        }
        values.datagrams.removeAll { id, bytes in
            requeue(id, over: .udp, bytes)
        }
    }

    /// Queues a kept value, unless it cannot be sent to the current peer.
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

    /// The connection is ending: nothing more enters the queues.
    ///
    /// - Parameter willReconnect: whether a replacement connection will follow. The unsent values of `latest` elements
    ///   then wait for it, since what is still sent now may never be read.
    mutating func close(_ reason: DisconnectReason, willReconnect: Bool) {
        guard case .open = phase else { return }
        guard willReconnect else { return phase = .ended(reason) }
        phase = .away(reason)
        if case .open = datagramState { keepsDatagrams = true } else { keepsDatagrams = false }
        kept = (stream.takeLatest(), datagrams.takeLatest())
    }

    /// Empties the queues of a closed connection.
    ///
    /// - Parameter unwritten: messages that were being written, and are lost like those in the queues; `nil` if the
    ///   connection was never ready, so that none was the user's.
    mutating func discardQueues(unwritten: Int?) {
        if let unwritten { counts.messagesLost += unwritten + messagesWaiting }
        stream = OutboundQueue(.stream, limit: stream.limit)
        pieces = PieceQueue()
        datagrams = OutboundQueue(.datagram(udpIdentifier: 0), limit: datagrams.limit)
        unsentDatagram = nil
        direct.discard()
        isPieceNext = false
        if case .open = datagramState { datagramState = .unavailable("the connection has ended") }
        streamFlush = .idle
        datagramFlush = .idle
    }

    /// The device has ended: the kept values are lost.
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

    /// Enables or disables datagrams.
    mutating func setDatagramState(_ state: DatagramState) {
        if case .open(let identifier) = state, case .unavailable = datagramState {
            datagrams = OutboundQueue(.datagram(udpIdentifier: identifier), limit: datagrams.limit)
        }
        datagramState = state
    }
}
