import ElementalWire

/// Whether a value may be sent, and by which route: decided only here.
extension Outbound {
    /// The route of a value that may be sent.
    enum Route {
        /// Over TCP, whole.
        case stream
        /// Over TCP, in pieces, or behind a value of its element that is.
        case pieces
        case datagrams
        /// As the latest unsent value of its element.
        case latest
        /// The same, kept until there is a connection.
        case kept
    }

    /// The route of a value.
    ///
    /// It changes nothing: were it not `mutating`, the compiler would copy all that any of its branches reads before the
    /// first of them, 40 instructions for every value (Swift 6.3.1).
    ///
    /// - Throws: why it may not be sent.
    @inline(__always)
    mutating func admit(
        _ id: Int8, over transport: Transport, isLatest: Bool, length: Int
    ) throws(SendRefusal) -> Route {
        let isKept = try admitAnything(isLatest: isLatest)
        if peer.missingElements.contains(id) { throw peer.isRestricted ? .withheld : .unknownElement }
        if length == 0, !peer.emptyValues { throw .emptyValue }
        switch transport {
        case .tcp:
            if length > Envelope.maximumValueByteCount { throw .valueTooLarge }
            if isLatest { return isKept ? .kept : .latest }
            if goesInPieces(id, length) {
                guard pieces.hasRoom(for: length, limit: stream.limit) else {
                    throw Self.queueFull(pieces.byteCount, stream.limit)
                }
                return .pieces
            }
            if !stream.hasRoom(for: length) { throw Self.queueFull(stream.byteCount, stream.limit) }
            return .stream
        case .udp:
            if case .unavailable(let reason) = datagramState, !(isKept && keepsDatagrams) {
                throw .udpUnavailable(reason)
            }
            let limit = Envelope.maximumDatagramValueByteCount - datagramOverhead
            if length > limit { throw .datagramTooLarge(limit: limit) }
            if isLatest { return isKept ? .kept : .latest }
            if !datagrams.hasRoom(for: length) { throw Self.queueFull(datagrams.byteCount, datagrams.limit) }
            return .datagrams
        }
    }

    /// Whether anything may be sent.
    ///
    /// - Parameter isLatest: whether the latest value is kept while there is no connection.
    /// - Returns: whether it is to be kept now.
    @inline(__always)
    func admitAnything(isLatest: Bool = false) throws(SendRefusal) -> Bool {
        isOpen ? false : try Self.admitAnything(phase, isLatest)
    }

    // The slow paths are passed only what they read: given `self`, the compiler copied it for every value (measured).
    @inline(never)
    private static func admitAnything(_ phase: Phase, _ isLatest: Bool) throws(SendRefusal) -> Bool {
        switch phase {
        case .open: return false
        case .away(let reason):
            if !isLatest { throw .reconnecting(reason) }
            return true
        case .unready: throw .notConnected
        case .ended(let reason): throw .ended(reason)
        }
    }

    @inline(never)
    private static func queueFull(_ waiting: Int, _ limit: Int) -> SendRefusal {
        .queueFull(waiting: waiting, limit: limit)
    }

    /// Whether a value is sent in pieces, or has to stay behind one of its element that is.
    @inline(__always)
    func goesInPieces(_ id: Int8, _ length: Int) -> Bool {
        length > Piece.wholeByteCount ? peer.pieces : pieces.elements.contains(id)
    }
}
