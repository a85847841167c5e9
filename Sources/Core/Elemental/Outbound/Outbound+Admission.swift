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

/// What the other end supports.
struct PeerAbilities {
    /// Whether it accepts empty values.
    var emptyValues = false
    /// Whether it accepts large values in pieces.
    var pieces = false
    /// Elements of this program that do not exist for the other end: the service does not have them, or the client's
    /// role may not read them.
    var missingElements = IdentifierSet()
    /// Whether they are missing because of the client's role.
    private(set) var isRestricted = false

    /// Never sends the client a value of these elements.
    mutating func withhold(_ elements: IdentifierSet) {
        missingElements.formUnion(elements)
        isRestricted = true
    }

    /// Discards what an earlier connection's hello announced.
    mutating func forgetHello() {
        emptyValues = false
        pieces = false
        if !isRestricted { missingElements = IdentifierSet() }
    }
}

/// Why a value may not be sent. Created under the lock; the error for the user is created outside it.
enum SendRefusal: Error {
    /// There was no connection yet.
    case notConnected
    /// The connection is ending or has ended.
    case ended(DisconnectReason)
    /// The connection was lost, and the element is not `latest`, so that its value is not kept for the replacement.
    case reconnecting(DisconnectReason)
    /// The other end has no such element.
    case unknownElement
    /// The client's role may not read the element.
    case withheld
    /// The other end does not accept empty values.
    case emptyValue
    /// Datagrams cannot be sent, with the reason.
    case udpUnavailable(String)
    /// The value is longer than what a datagram takes.
    case datagramTooLarge(limit: Int)
    /// The value is longer than an envelope can say.
    case valueTooLarge
    /// The queue has no room for the value.
    case queueFull(waiting: Int, limit: Int)

    /// The error thrown to the sender.
    ///
    /// - Parameters:
    ///   - element: the value's; `nil` for a ping.
    ///   - length: the value's bytes.
    ///   - peer: the other end's name.
    func error(for element: ElementDefinition?, length: Int, to peer: String) -> ElementalError {
        let subject = element.map { "element '\($0.name)'" } ?? "a ping"
        switch self {
        case .notConnected:
            return ElementalError(.notConnected, "the device is not connected")
        case .ended(let reason):
            return ElementalError(.notConnected, "the connection has ended: \(reason)")
        case .reconnecting(let reason):
            return ElementalError(
                .notConnected,
                "the device is reconnecting, its connection was lost: \(reason). Send when it is back, or mark the "
                    + "element latest, whose newest value is kept meanwhile")
        case .unknownElement:
            let identity = element.map { "element \($0.id) ('\($0.name)')" } ?? subject
            return ElementalError(.unknownElement, "the service '\(peer)' has no \(identity)")
        case .withheld:
            return ElementalError(.notAuthorised, "the role of '\(peer)' does not permit it to read \(subject)")
        case .emptyValue:
            return ElementalError(
                .emptyValue,
                "\(subject): the other end has not said that it takes empty values (an older ElementalController "
                    + "takes none); send at least one byte")
        case .udpUnavailable(let reason):
            return ElementalError(
                .udpUnavailable, "\(subject) travels over UDP, which this connection does not have: \(reason)")
        case .datagramTooLarge(let limit):
            return ElementalError(
                .datagramTooLarge,
                "\(subject): a value of \(length) bytes does not fit a datagram, which takes "
                    + "\(limit); define the element with transport: .tcp")
        case .valueTooLarge:
            return ElementalError(
                .invalidValue,
                "\(subject): a value of \(length) bytes cannot be sent; the longest has "
                    + "\(Envelope.maximumValueByteCount). Send it in several values")
        case .queueFull(let waiting, let limit):
            return ElementalError(
                .queueFull,
                "\(subject): \(waiting) bytes wait to be sent and the limit is \(limit); the other end "
                    + "or the network is slower than this program. Wait with sendWhenReady, send less often, or mark "
                    + "the element latest")
        }
    }
}
