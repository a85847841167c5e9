import ElementalSecurity

// Why a connection could not be established.
extension ElementalError {
    /// The other end: its name and address, and whether it has proven its identity.
    typealias Peer = (text: String, isProven: Bool)

    static var connectingCancelled: ElementalError { ElementalError(.cancelled, "connecting was cancelled") }

    /// The connection ended before the service had answered the client's first bytes.
    ///
    /// - Parameter what: what could not be done.
    static func unanswered(_ what: String) -> ElementalError {
        ElementalError(
            .connectionFailed,
            "\(what): the connection was closed before an answer, twice; the service may limit handshakes, or not be an "
                + "element service. Try again in a few seconds")
    }

    /// A connection ended during the handshake.
    static func noDevice(_ reason: DisconnectReason, _ other: Peer) -> ElementalError {
        let peer = other.text
        return switch reason.kind {
        case .shutDown(let text):
            ElementalError(other.isProven ? .refused : .unauthenticated, "\(peer) turned the connection away: \(text)")
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
    static func lostAgain(_ reason: DisconnectReason, _ peer: Peer) -> ElementalError {
        if case .shutDown = reason.kind { return noDevice(reason, peer) }
        return ElementalError(.connectionFailed, "the connection to \(peer.text) was lost again: \(reason)")
    }
}

extension ElementalError {
    /// The service, or this client, ended the admission.
    ///
    /// - Parameter what: what could not be done.
    init(_ refusal: AdmissionRefusal, _ what: String) {
        let code: Code =
            switch refusal.code {
            case .notPaired: .notPaired
            case .notAuthorised: .notAuthorised
            case .pairingClosed, .pairingBusy: .pairingClosed
            case .wrongCode: .wrongCode
            case .timedOut: .timedOut
            case .alreadyPaired: .identityChanged
            case .nameTaken: .nameTaken
            default: .refused
            }
        self.init(code, "\(what): \(refusal.sentence)")
    }
}
