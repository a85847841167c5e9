public import ElementalSecurity
public import ElementalWire

/// A pairing window that an admin has opened.
public struct OpenedPairing: Sendable {
    /// What the client has to enter. Show it to the person there, and put it nowhere else.
    public let secret: PairingSecret
    /// How long the window stays open, unless a client pairs or fails five times before.
    public let timeLeft: Duration
    /// The most that the client gets: what was asked for or, over the network, ``Role/control``, whichever is less.
    public let role: Role
}

/// What a service did when an admin revoked a client.
public struct RemoteRevocation: Sendable, Hashable {
    /// A client by its name and fingerprint.
    public struct Client: Sendable, Hashable {
        /// The client's key.
        public let fingerprint: Fingerprint
        /// The name that the client gave itself.
        public let name: String
    }

    /// How many clients have paired in windows that the revoked one opened. They remain: somebody has to look at them.
    public let letInCount: Int
    /// The first of them.
    public let letIn: [Client]
}
