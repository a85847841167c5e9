import ElementalWire

/// Why a value cannot be sent.
extension Outbound {
    /// The error of sending without a connection.
    var notConnected: ElementalError {
        guard let endReason else { return ElementalError(.notConnected, "the device is not connected") }
        return ElementalError(
            .notConnected,
            isAway
                ? "the device is reconnecting, its connection was lost: \(endReason). Send when it is back, or mark the "
                    + "element latest, whose newest value is kept meanwhile"
                : "the connection has ended: \(endReason)")
    }

    /// Why a value may not be queued now, or `nil` if it may.
    func refusal(of element: ElementDefinition, length: Int) -> ElementalError? {
        guard connection != nil || (isAway && element.latest) else { return notConnected }
        if let misfit = misfits[element.id] { return misfit }
        let name = "element '\(element.name)'"
        if length == 0, !takesEmptyValues {
            return ElementalError(
                .emptyValue,
                "\(name): the other end has not said that it takes empty values (an older ElementalController "
                    + "takes none); send at least one byte")
        }
        if element.transport == .udp {
            if case .unavailable(let why) = datagramState, !(isAway && keepsDatagrams) {
                return ElementalError(.udpUnavailable, "\(name) travels over UDP, which is not to be had: \(why)")
            }
            guard length <= Envelope.maximumDatagramValueByteCount else {
                return ElementalError(
                    .datagramTooLarge,
                    "\(name): a value of \(length) bytes does not fit a datagram, which takes "
                        + "\(Envelope.maximumDatagramValueByteCount); define the element with transport: .tcp")
            }
        }
        guard !element.latest else { return nil }
        let queue = element.transport == .tcp ? stream : datagrams
        let isLarge = element.transport == .tcp && goesInPieces(element.id, length)
        guard isLarge ? !large.hasRoom(for: length, limit: stream.limit) : !queue.hasRoom(for: length) else {
            return nil
        }
        let waiting = isLarge ? large.byteCount : queue.byteCount
        return ElementalError(
            .queueFull,
            "\(name): \(waiting) bytes wait to be sent and the limit is \(queue.limit); the other end "
                + "or the network is slower than this program. Wait with sendWhenReady, send less often, or mark the "
                + "element latest")
    }
}
