// Why a connection could not be established.
extension ElementalError {
    static var connectingCancelled: ElementalError { ElementalError(.cancelled, "connecting was cancelled") }

    /// A connection ended during the handshake.
    ///
    /// - Parameter peer: the other end's name and address.
    static func noDevice(_ reason: DisconnectReason, _ peer: String) -> ElementalError {
        switch reason.kind {
        case .shutDown(let text):
            ElementalError(.refused, "\(peer) turned the connection away: \(text)")
        case .catalogueMismatch(let text):
            ElementalError(.catalogueMismatch, text)
        case .invalidCatalogue(let text):
            .invalidCatalogue(text)
        case .timedOut(let text):
            ElementalError(.timedOut, "\(peer) accepted the connection, but \(text); is it an element service?")
        case .cancelled:
            .connectingCancelled
        default:
            ElementalError(
                .connectionFailed,
                "\(peer) ended the connection during the handshake (\(reason)); is it an element service?")
        }
    }

    /// A restored connection was lost again so soon that it counts as a failed attempt.
    static func lostAgain(_ reason: DisconnectReason, _ peer: String) -> ElementalError {
        if case .shutDown = reason.kind { return noDevice(reason, peer) }
        return ElementalError(.connectionFailed, "the connection to \(peer) was lost again: \(reason)")
    }
}
