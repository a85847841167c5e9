import ElementalSecurity

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
