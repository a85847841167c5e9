public import ElementalSecurity
public import ElementalWire

/// An event of a service's pairing window.
public enum PairingEvent: Sendable {
    /// Clients may pair with this code or secret, for so long, in this role at most. Show it to the person at the client,
    /// and put it nowhere else.
    case opened(PairingSecret, for: Duration, role: Role)
    /// An admin has opened the window over the network, and shows the code there.
    case openedByAdmin
    /// Clients can no longer pair.
    case closed
    /// A client has paired.
    case paired(TrustedClient)
    /// A client has given the right code and could not be stored: it is not paired. The window is closed.
    case failed(TrustedClient, ElementalError)
}

extension ElementalError {
    static func notPaired(_ client: String, storing error: any Error) -> ElementalError {
        ElementalError(.notPaired, "'\(client)' is not paired, because it cannot be stored: \(error)")
    }
}
