import ElementalWire

/// A service that this end uses, whose key is pinned.
public struct TrustedService: Sendable, Hashable {
    /// A host and port at which a service was reached.
    public struct Host: Sendable, Hashable {
        /// A host name, or an address in text form.
        public var name: String
        /// The TCP port.
        public var port: UInt16

        /// Creates a host with its port.
        public init(_ name: String, port: UInt16) {
            self.name = name
            self.port = port
        }
    }

    /// The service's key.
    public var fingerprint: Fingerprint
    /// The service's name, such as `robot`: 1 to 64 bytes of UTF-8, no control characters.
    public var service: String
    /// The instance's name, such as "Rover", with the same bounds. No two entries have the same service and instance.
    public var instance: String
    /// The hosts where it was reached, the newest first, each with its latest port; at most 16.
    public var hosts: [Host]
    /// The role that the service granted; `nil` for a role that this version does not know.
    public var role: Role? {
        get { storedRole.role }
        set { storedRole = StoredRole(newValue) }
    }

    /// Whether the pairing is incomplete, because the service has not confirmed that it has stored this client. A
    /// pending service is not trusted: pair again.
    public var isPending = false

    var storedRole: StoredRole

    /// Creates a service with its key.
    public init(fingerprint: Fingerprint, service: String, instance: String, hosts: [Host] = [], role: Role) {
        self.fingerprint = fingerprint
        self.service = service
        self.instance = instance
        self.hosts = hosts
        storedRole = StoredRole(role)
    }
}
