import ElementalWire

extension Outbound {
    /// Opens the queues for a connection that is ready, the first or a replacement. The owner makes sure that a flush
    /// follows.
    ///
    /// - Parameter hasHello: whether the peer has sent a hello; if not, what an earlier peer announced no longer
    ///   applies.
    mutating func open(_ link: Link, hasHello: Bool) {
        phase = .open(link)
        if !hasHello { peer.forgetHello() }
        var values = stream.takeKept()
        values.removeAll { requeue($0, over: .tcp, $1) }
        values = datagrams.takeKept()
        values.removeAll { requeue($0, over: .udp, $1) }
    }

    private mutating func requeue(_ wireID: Int8, over transport: Transport, _ bytes: UnsafeRawBufferPointer) {
        let (id, value) = Self.plain(wireID, bytes)
        do throws(SendRefusal) {
            _ = try admit(id, over: transport, isLatest: true, length: value.count)
            if takesTime(value.count, isLatest: true) {
                _ = self[transport].setLatest(id, as: wireID, bytes)
            } else {
                _ = self[transport].setLatest(id, value)
            }
            self[transport].flush.schedule()
        } catch {
            counts.messagesLost += 1
        }
    }

    /// - Parameter willReconnect: the unsent values of `latest` elements then wait for the replacement connection,
    ///   since what is still sent now may never be read.
    mutating func close(_ reason: DisconnectReason, willReconnect: Bool) {
        guard case .open = phase else { return }
        guard willReconnect else { return phase = .ended(reason) }
        phase = .away(reason)
        if case .open = datagramState { keepsDatagrams = true } else { keepsDatagrams = false }
        stream.kept = stream.takeLatest()
        datagrams.kept = datagrams.takeLatest()
    }

    /// - Parameter unwritten: messages that were being written, and are lost like those in the queues; `nil` if the
    ///   connection was never ready, so that none was the user's.
    mutating func discardQueues(unwritten: Int?) {
        if let unwritten { counts.messagesLost += unwritten + messagesWaiting }
        stream.restart()
        datagrams.restart()
        pieces = nil
        isPieceNext = false
        if case .open = datagramState { datagramState = .unavailable("the connection has ended") }
    }

    mutating func end(_ reason: DisconnectReason) {
        phase = .ended(reason)
        counts.messagesLost += stream.takeKept().count + datagrams.takeKept().count
    }

    mutating func setDatagramState(_ state: DatagramState) {
        if case .open(let identifier) = state, case .unavailable = datagramState {
            datagrams.restart(.datagram(udpIdentifier: identifier))
        }
        datagramState = state
    }
}
