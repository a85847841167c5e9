public import ElementalSecurity
public import ElementalWire

extension ElementalService {
    /// Lets one client pair with the service. The code or long secret to enter arrives as
    /// ``PairingEvent/opened(_:for:role:)`` in ``ServiceEvent/pairing(_:)``. A window that is already open is replaced.
    ///
    /// The window closes when a client has paired, after five wrong codes, and when the time is over.
    /// - Parameters:
    ///   - duration: how long the window stays open, clamped to 1 s to an hour.
    ///   - role: the highest role that the client can get; it may ask for less.
    ///   - kind: six digits for the user to type, or a long secret.
    /// - Throws: ``ElementalError/Code/invalidState`` if the service is not running, or is open so that pairing has no
    ///   effect.
    public func openPairing(
        for duration: Duration = .seconds(300), role: Role = .control, _ kind: PairingSecret.Kind = .code
    ) throws(ElementalError) {
        guard shared.configuration.security.keys != nil else {
            throw ElementalError(.invalidState, "the service '\(service)' is open: its clients need no pairing")
        }
        guard let listener else { throw ElementalError(.invalidState, "the service '\(service)' is not running") }
        listener.execute { $0.gate?.openPairing(kind, for: duration, role: role) }
    }

    /// Closes the pairing window, if it is open.
    public func closePairing() {
        listener?.execute { $0.gate?.closePairing() }
    }

    /// - Throws: as ``ElementalService/update(txt:)`` does.
    func advertise(_ change: (inout SecurityEntries) -> Void) throws(ElementalError) {
        try republish(shared.security, change)
    }

    /// Warns of element roles that are ignored because the service is open.
    func checkRoles() {
        guard shared.policy == .open else { return }
        let names = elements.filter { $0.readers != .plain || $0.writers != .control }.map(\.name)
        guard !names.isEmpty else { return }
        shared.configuration.logger.warning(
            "the service is open: every client may read and set these elements, and their roles are ignored",
            metadata: ["service": "\(service)", "elements": "\(names.joined(separator: ", "))"])
    }
}

extension SecurityEntries {
    init(_ security: ServiceSecurity) {
        self.init(policy: security.policy)
        shortFingerprint = security.keys?.identity.fingerprint.short
    }
}
