import Support

extension TrustedPeers {
    /// The maximum number of entries in each list.
    public static let maximumCount = 1000
    /// The maximum number of services that one entry may name.
    static let maximumServiceCount = 64
    /// Stands for all services in a file. It cannot be the name of a service.
    static let allServices = "*"

    /// Checks the rules of a store: valid entries, within the maximums, with unique names.
    ///
    /// - Throws: ``SecurityError/Code/invalidPeer``, ``SecurityError/Code/alreadyPinned`` or ``SecurityError/Code/full``.
    func validate() throws(SecurityError) {
        guard clients.count <= Self.maximumCount else { throw .full("clients") }
        guard services.count <= Self.maximumCount else { throw .full("services") }
        var keys: [String: Fingerprint] = [:]
        var names: [Fingerprint: String] = [:]
        for client in clients {
            try client.validate()
            guard keys.updateValue(client.fingerprint, forKey: client.name) ?? client.fingerprint == client.fingerprint
            else {
                throw SecurityError(.alreadyPinned, "two clients are named \"\(client.name)\"; rename or revoke one")
            }
            guard names.updateValue(client.name, forKey: client.fingerprint) ?? client.name == client.name else {
                throw SecurityError(.alreadyPinned, "\"\(client.name)\" and another client have the same key")
            }
        }
        var instances: Set<[ComparableName]> = []
        for service in services {
            try service.validate()
            guard instances.insert([ComparableName(service.service), ComparableName(service.instance)]).inserted else {
                throw SecurityError(
                    .alreadyPinned, "\(service.service)/\"\(service.instance)\" is listed twice; remove one entry")
            }
        }
    }
}

extension TrustedClient {
    func validate() throws(SecurityError) {
        guard TrustName.isValid(name), Fingerprint(name) == nil else {
            throw SecurityError(
                .invalidPeer,
                "a client's name needs 1 to \(TrustName.maximumByteCount) bytes, no control characters, and is not a "
                    + "fingerprint")
        }
        if case .named(let names) = services {
            guard !names.isEmpty, names.count <= TrustedPeers.maximumServiceCount,
                names.allSatisfy({ TrustName.isValid($0) && $0 != TrustedPeers.allServices })
            else {
                throw SecurityError(
                    .invalidPeer,
                    "a client may use 1 to \(TrustedPeers.maximumServiceCount) services, or all; the name of each has 1 "
                        + "to \(TrustName.maximumByteCount) bytes and no control characters")
            }
        }
        try storedRole.validate()
    }
}

extension TrustedService {
    func validate() throws(SecurityError) {
        guard TrustName.isValid(service), TrustName.isValid(instance) else {
            throw SecurityError(
                .invalidPeer,
                "the names of a service and its instance need 1 to \(TrustName.maximumByteCount) bytes and no control "
                    + "characters")
        }
        guard hosts.count <= TrustedPeers.maximumHostCount,
            hosts.allSatisfy({ TrustName.isValid($0.name, maximumByteCount: TrustName.maximumHostByteCount) })
        else {
            throw SecurityError(
                .invalidPeer,
                "a service may have at most \(TrustedPeers.maximumHostCount) hosts, with names of 1 to "
                    + "\(TrustName.maximumHostByteCount) bytes and no control characters")
        }
        try storedRole.validate()
    }
}

extension StoredRole {
    func validate() throws(SecurityError) {
        guard TrustName.isValid(name) else {
            throw SecurityError(.invalidPeer, "the name of a role is empty, too long, or has control characters")
        }
    }
}
