import ElementalWire

/// What Zeroconf says about a service's security. Anyone on the network can publish that.
struct ServiceAnnouncement: Sendable {
    /// What the service requires of its clients; `nil` if nothing is known.
    private(set) var policy: SecurityPolicy?
    /// The beginning of its fingerprint.
    var shortFingerprint: String?

    init(policy: SecurityPolicy? = nil, shortFingerprint: String? = nil) {
        self.policy = policy
        self.shortFingerprint = shortFingerprint
    }

    init(_ service: DiscoveredService) {
        policy = service.security
        shortFingerprint = service.shortFingerprint
    }
}
