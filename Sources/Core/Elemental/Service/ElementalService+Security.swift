import ElementalWire

extension ElementalService {
    /// Changes what the service's TXT record says about its security, whether or not it is running.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/invalidValue`` if the entries do not fit a TXT
    ///   record; the service keeps its previous ones.
    func advertise(_ change: (inout SecurityEntries) -> Void) throws(ElementalError) {
        try republish(shared.security, change)
    }

    /// Warns of roles that elements ask for and that count for nothing.
    func checkRoles() {
        guard shared.policy == .open else { return }
        let names = elements.filter { $0.readers != .plain || $0.writers != .control }.map(\.name)
        guard !names.isEmpty else { return }
        shared.configuration.logger.warning(
            "the service is open: everybody may read and set these elements, whatever roles they ask for",
            metadata: ["service": "\(service)", "elements": "\(names.joined(separator: ", "))"])
    }
}

extension SecurityEntries {
    init(_ security: ServiceSecurity) {
        self.init(policy: security.policy)
        shortFingerprint = security.keys?.identity.fingerprint.short
    }
}

extension ElementalService.Shared {
    /// The command that pairs a client with this service.
    var pairingCommand: String {
        guard configuration.isPublished else { return "elemental pair HOST:PORT" }
        // Quoted for a shell.
        return "elemental pair '" + "\(name)/\(displayName)".replacing("'", with: "'\\''") + "'"
    }
}

extension ElementalError {
    static func trustUnavailable(_ service: String, _ error: any Error) -> ElementalError {
        ElementalError(.notPaired, "'\(service)' trusts nobody until it can read whom it trusts: \(error)")
    }

    static func identityLost(_ service: String, _ error: any Error) -> ElementalError {
        ElementalError(.identityChanged, "'\(service)' ends, because its identity is no longer valid: \(error)")
    }
}
