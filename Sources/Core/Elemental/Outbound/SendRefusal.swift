import ElementalWire

/// Why a value may not be sent. Created under the lock; the error for the user is created outside it.
enum SendRefusal: Error {
    case notConnected
    case ended(DisconnectReason)
    /// The connection was lost, and the element is not `latest`, so that its value is not kept for the replacement.
    case reconnecting(DisconnectReason)
    case unknownElement
    case withheld
    case emptyValue
    case udpUnavailable(String)
    case datagramTooLarge(limit: Int)
    case valueTooLarge
    case queueFull(waiting: Int, limit: Int)

    /// - Parameter element: `nil` for a ping.
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
                "the connection was lost and the device reconnects: \(reason). Send when it is back, or mark the "
                    + "element latest, so that its newest value is kept meanwhile")
        case .unknownElement:
            let identity = element.map { "element \($0.id) ('\($0.name)')" } ?? subject
            return ElementalError(.unknownElement, "the service '\(peer)' has no \(identity)")
        case .withheld:
            return ElementalError(.notAuthorised, "the role of '\(peer)' does not permit it to read \(subject)")
        case .emptyValue:
            return ElementalError(
                .emptyValue,
                "\(subject): the peer does not support empty values (an older ElementalController "
                    + "never does); send at least one byte")
        case .udpUnavailable(let reason):
            return ElementalError(
                .udpUnavailable, "\(subject) uses UDP, which this connection does not have: \(reason)")
        case .datagramTooLarge(let limit):
            return ElementalError(
                .datagramTooLarge,
                "\(subject): a value of \(length) bytes does not fit a datagram, whose maximum is "
                    + "\(limit); define the element with transport: .tcp")
        case .valueTooLarge:
            return ElementalError(
                .invalidValue,
                "\(subject): a value of \(length) bytes cannot be sent; the maximum is "
                    + "\(Envelope.maximumValueByteCount). Send it in several values")
        case .queueFull(let waiting, let limit):
            return ElementalError(
                .queueFull,
                "\(subject): \(waiting) bytes wait to be sent and the limit is \(limit); the peer "
                    + "or the network is slower than this program. Wait with sendWhenReady, send less often, or mark "
                    + "the element latest")
        }
    }
}
