import ElementalWire

/// A service that this end uses, whose key is pinned.
public struct TrustedService: Sendable, Hashable {
    /// A host and port at which a service was reached.
    public struct Host: Sendable, Hashable {
        /// A host name, or an address in text form.
        public var name: String
        /// The TCP port.
        public var port: UInt16

        /// A host and port.
        public init(_ name: String, port: UInt16) {
            self.name = name
            self.port = port
        }
    }

    /// The service's key.
    public var fingerprint: Fingerprint
    /// The service's name, such as `robot`: 1 to 64 bytes of UTF-8, no control characters.
    public var service: String
    /// The instance's name, such as "Rover"; the same bounds. No two entries have the same service and instance.
    public var instance: String
    /// Where it was reached, the newest host first, each with its latest port; at most 16.
    public var hosts: [Host]
    /// The role that it granted; `nil` for one that this version does not know.
    public var role: Role? {
        get { storedRole.role }
        set { storedRole = StoredRole(newValue) }
    }

    /// Whether the pairing is not complete, because the service has not said that it has stored this client. It counts
    /// for nothing then: pair again.
    public var isPending = false

    var storedRole: StoredRole

    /// A service with its key.
    public init(fingerprint: Fingerprint, service: String, instance: String, hosts: [Host] = [], role: Role) {
        self.fingerprint = fingerprint
        self.service = service
        self.instance = instance
        self.hosts = hosts
        storedRole = StoredRole(role)
    }
}
