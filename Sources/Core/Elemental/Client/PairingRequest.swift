public import ElementalSecurity

/// What a service wants entered to pair.
public struct PairingRequest: Sendable {
    /// Six digits, or a long secret.
    public let kind: PairingSecret.Kind
    /// The service's name, such as `robot`, as it says itself.
    public let service: String
    /// How long the service accepts it, if the window is not closed before.
    public let timeLeft: Duration
}
