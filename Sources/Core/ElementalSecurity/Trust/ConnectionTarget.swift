/// What a client wants to connect to, for the question which key it has to have there.
package struct ConnectionTarget: Sendable, Hashable {
    /// The service's name, such as `robot`, if it is known.
    package var service: String?
    /// The instance's name, such as "Rover"; `nil` if a host and port were given.
    package var instance: String?
    /// All that is known of the host: the name that was given or found, and its addresses in text form.
    package var hosts: [String]
    /// The TCP port.
    package var port: UInt16
    /// The short fingerprint of the TXT record (`id`), which proves nothing.
    package var advertisedIdentity: String?

    /// A service that was found, or a host and port that were given.
    package init(
        service: String? = nil, instance: String? = nil, hosts: [String], port: UInt16,
        advertisedIdentity: String? = nil
    ) {
        self.service = service
        self.instance = instance
        self.hosts = hosts
        self.port = port
        self.advertisedIdentity = advertisedIdentity
    }
}

/// What is known about a target before anything was proven.
package enum PinMatch: Sendable, Hashable {
    /// Nothing is pinned: the client's policy decides.
    case nothing
    /// The service and instance are pinned: only that key is accepted.
    case pinned(TrustedService)
    /// A new name, but the TXT record claims a pinned key of the same service: only that key is accepted.
    case renamed(TrustedService)
    /// The TXT record claims this end's own key: only that is accepted.
    case own
    /// These pinned services were reached at this host, or the TXT record claims their key.
    case knownHost([TrustedService])
    /// Another service than the pinned ones, whose TXT record claims the key of this one: it may admit this client by
    /// that pairing, and is otherwise connected to as if nothing was paired.
    case sibling(TrustedService)

    /// Whether the target may be spoken to in TLS alone.
    package var requiresTLS: Bool {
        switch self {
        case .nothing, .sibling: false
        case .pinned, .renamed, .own, .knownHost: true
        }
    }
}

/// What a key that was proven in TLS means.
package enum PinVerdict: Sendable, Hashable {
    /// It is that of the service that is wanted.
    case trusted(TrustedService)
    /// It is the key of this pinned service, and another service was wanted, which has the same identity.
    case sibling(TrustedService)
    /// It is this end's own key.
    case own
    /// It is not the key that is pinned: somebody else answers in the service's place, or it has a new identity.
    case identityChanged
    /// Nothing is known about it: pairing is possible.
    case notPaired
}
