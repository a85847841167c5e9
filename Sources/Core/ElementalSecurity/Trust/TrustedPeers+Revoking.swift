import Support

extension TrustedPeers {
    /// The result of a revocation.
    public struct Revocation: Sendable, Hashable {
        /// The clients that are no longer trusted.
        public var clients: [TrustedClient] = []
        /// The services whose keys are no longer pinned.
        public var services: [TrustedService] = []
        /// The clients that one of those has paired and that are still trusted. The user has to check them.
        public var letIn: [TrustedClient] = []
    }

    /// Removes the peers with this name or fingerprint.
    ///
    /// - Parameter peer: a client's name; a service's instance, alone or as `SERVICE/INSTANCE`; or a whole fingerprint.
    /// - Throws: ``SecurityError/Code/unknownPeer``
    @discardableResult
    public mutating func revoke(_ peer: String) throws(SecurityError) -> Revocation {
        let key = Fingerprint(peer)
        let revocation = revoke(
            client: { $0.name == peer || $0.fingerprint == key },
            service: {
                $0.instance.isSameName(as: peer) || "\($0.service)/\($0.instance)".isSameName(as: peer)
                    || $0.fingerprint == key
            })
        guard !revocation.clients.isEmpty || !revocation.services.isEmpty else {
            throw SecurityError(
                .unknownPeer,
                "no trusted peer has that name or fingerprint; give the whole fingerprint "
                    + "(elemental trust list)")
        }
        return revocation
    }

    /// Removes the peer with this fingerprint from both lists.
    @discardableResult
    public mutating func revoke(_ key: Fingerprint) -> Revocation {
        revoke(client: { $0.fingerprint == key }, service: { $0.fingerprint == key })
    }

    /// Removes a client's access to a service, when an admin of that service requests it over the network. The client's
    /// access to other services and the pinned services are outside that admin's authority.
    ///
    /// An admin of all services, or this end's own key, removes the client from all services.
    ///
    /// - Parameters:
    ///   - key: the client's key.
    ///   - service: the name of the service that the admin is connected to.
    ///   - admin: the key that the admin has proved in TLS.
    ///   - own: the service's own key.
    /// - Throws: ``SecurityError/Code/invalidPeer`` if the client may use all services, and the admin is not an admin
    ///   of all.
    @discardableResult
    public mutating func revoke(
        client key: Fingerprint, of service: String, by admin: Fingerprint, own: Fingerprint
    ) throws(SecurityError) -> Revocation {
        let isAdminOfAll =
            admin == own || clients.contains { $0.fingerprint == admin && $0.services == .all && $0.role == .admin }
        var revocation = Revocation()
        var kept: [TrustedClient] = []
        for client in clients {
            if client.fingerprint != key || !(isAdminOfAll || client.services.contains(service)) {
                kept.append(client)
                continue
            }
            revocation.clients.append(client)
            if isAdminOfAll { continue }
            guard case .named(let names) = client.services else {
                throw SecurityError(
                    .invalidPeer,
                    "\"\(client.name)\" may use all services, and an admin of one cannot revoke it: revoke it on the "
                        + "service's own machine (elemental trust revoke)")
            }
            var rest = client
            rest.services = .named(names.filter { !$0.isSameName(as: service) })
            if rest.services != [] { kept.append(rest) }
        }
        clients = kept
        guard !revocation.clients.isEmpty else { return revocation }
        revocation.letIn = clients.filter { client in
            client.pairedBy == key && (isAdminOfAll || client.services.contains(service))
        }
        return revocation
    }

    private mutating func revoke(
        client isRevoked: (TrustedClient) -> Bool, service isUnpinned: (TrustedService) -> Bool
    ) -> Revocation {
        var revocation = Revocation()
        revocation.clients = clients.filter(isRevoked)
        revocation.services = services.filter(isUnpinned)
        clients.removeAll(where: isRevoked)
        services.removeAll(where: isUnpinned)
        let keys = Set(revocation.clients.map(\.fingerprint))
        revocation.letIn = clients.filter { client in client.pairedBy.map(keys.contains) ?? false }
        return revocation
    }
}
