/// A client's target, to find the key that the target must have.
package struct ConnectionTarget: Sendable, Hashable {
    /// The service's name, such as `robot`, if it is known.
    package var service: String?
    /// The instance's name, such as "Rover"; `nil` if a host and port were given.
    package var instance: String?
    /// All known hosts of the target: the name that was given or found, and its addresses in text form.
    package var hosts: [String]
    /// The TCP port.
    package var port: UInt16
    /// The short fingerprint in the TXT record (`id`), which proves nothing.
    package var advertisedIdentity: String?

    /// Creates a target from a service that was found, or from a given host and port.
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

/// The pins that apply to a target before its key is proved.
package enum PinMatch: Sendable, Hashable {
    /// Nothing is pinned: the client's policy decides.
    case nothing
    /// The service and instance are pinned: only their key is accepted.
    case pinned(TrustedService)
    /// The name is new, but the TXT record claims a pinned key of the same service: only that key is accepted.
    case renamed(TrustedService)
    /// The TXT record claims this end's own key: only that key is accepted.
    case own
    /// These pinned services were reached at this host, or the TXT record claims their key.
    case knownHost([TrustedService])
    /// The TXT record claims the key of this pinned service, but the target is another service. It may admit this
    /// client by that pairing. Otherwise the client connects to it as if nothing was paired.
    case sibling(TrustedService)

    /// Whether the client may use only TLS with the target.
    package var requiresTLS: Bool {
        switch self {
        case .nothing, .sibling: false
        case .pinned, .renamed, .own, .knownHost: true
        }
    }
}

/// The meaning of a key that the target has proved in TLS.
package enum PinVerdict: Sendable, Hashable {
    /// It is the key of the wanted service.
    case trusted(TrustedService)
    /// It is the key of this pinned service. Another service was wanted, which has the same identity.
    case sibling(TrustedService)
    /// It is this end's own key.
    case own
    /// It is not the pinned key: another program answers in the service's place, or the service has a new identity.
    case identityChanged
    /// The key is unknown: pairing is possible.
    case notPaired
}
