import ElementalSecurity
import Support

extension ElementalError {
    typealias Peer = (text: String, isProven: Bool)

    static var connectingCancelled: ElementalError { ElementalError(.cancelled, "connecting was cancelled") }

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

    static func lostAgain(_ reason: DisconnectReason, _ peer: Peer) -> ElementalError {
        if case .shutDown = reason.kind { return noDevice(reason, peer) }
        return ElementalError(.connectionFailed, "the connection to \(peer.text) was lost again: \(reason)")
    }

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

extension Connector {
    var unexpectedAnswer: ElementalError {
        ElementalError(.connectionFailed, "'\(peerName)' does not answer as expected")
    }

    func explain(
        _ failure: ClientGateHandler.Failure, _ endpoint: ServiceEndpoint, _ expected: ExpectedService
    ) -> ElementalError {
        let target = explainTarget(endpoint)
        switch (failure, expected.match) {
        case (.otherKey(let key), let match):
            guard match.requiresTLS else { return .notPaired(peerName) }
            if case .identityChanged = expected.verdict(on: key) { return .identityChanged(peerName) }
            return ElementalError(
                .notPaired,
                "\(target): \(expected.reason), and what answers there is another service, which is not; pair them first "
                    + "(elemental pair), or connect to it by its name")
        case (.notEncrypted(let reason), .nothing), (.notEncrypted(let reason), .sibling):
            return ElementalError(
                .notPaired,
                "\(target): it does not offer encrypted connections; it is open, or an older program (\(reason))")
        case (.notEncrypted(let reason), .knownHost):
            return ElementalError(
                .connectionFailed,
                "\(target): \(expected.reason), and what answers there offers no encryption (\(reason)); if it is "
                    + "another service, connect to it by its name (elemental browse shows it), or without encryption: "
                    + "\(peerName) --security open")
        case (.notEncrypted(let reason), _):
            return ElementalError(
                .connectionFailed, "\(target): it is paired, but no encrypted connection came about (\(reason))")
        default: return explain(failure, target)
        }
    }

    func explain(_ failure: ClientGateHandler.Failure, _ what: String) -> ElementalError {
        switch failure {
        case .refused(let refusal): ElementalError(refusal, what)
        case .timedOut:
            ElementalError(
                .timedOut, "\(what): it accepted the connection, but did not answer within \(options.timeout)")
        case .unanswered:
            ElementalError(
                .connectionFailed,
                "\(what): the connection was closed before an answer, twice; the service may limit handshakes, or not be "
                    + "an element service. Try again in a few seconds")
        case .closed:
            ElementalError(.connectionFailed, "\(what): it ended the connection before it answered")
        case .otherKey:
            ElementalError(.connectionFailed, "\(what): it has another key than before")
        case .notEncrypted(let reason):
            ElementalError(
                .connectionFailed,
                "\(what): it does not offer encrypted connections; is it open, or an older program? (\(reason))")
        case .notStored(let error):
            ElementalError(.connectionFailed, "\(what): this client cannot store it", cause: error)
        }
    }

    private func explainTarget(_ endpoint: ServiceEndpoint) -> String {
        "cannot connect to '\(peerName)'" + (peerName == endpoint.text ? "" : " at \(endpoint.text)")
    }

    func explain(_ error: any Error, _ endpoint: ServiceEndpoint) -> ElementalError {
        let target = explainTarget(endpoint)
        let failure = NetworkFailure(error)
        switch failure.kind {
        case .unknownHost: return ElementalError(.hostNotFound, "\(target): \(failure.reason)")
        case .other: return ElementalError(.connectionFailed, "\(target): \(failure.reason)")
        case .timedOut:
            return ElementalError(
                .timedOut,
                "\(target): no answer within \(options.timeout); the host is off or cut off, although its service may still "
                    + "be listed for a while")
        }
    }
}
