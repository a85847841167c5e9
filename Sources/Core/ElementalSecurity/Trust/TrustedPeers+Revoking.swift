extension TrustedPeers {
    /// What a revocation removed.
    public struct Revocation: Sendable, Hashable {
        /// The clients that are no longer trusted.
        public var clients: [TrustedClient] = []
        /// The services whose keys are no longer pinned.
        public var services: [TrustedService] = []
        /// Clients that one of those let in, and that are still trusted: somebody has to look at them.
        public var letIn: [TrustedClient] = []
    }

    /// Removes the peers with a name or a fingerprint.
    ///
    /// - Parameter peer: a client's name; a service's instance, alone or as `SERVICE/INSTANCE`; or a whole fingerprint.
    /// - Throws: ``SecurityError/Code/unknownPeer``
    @discardableResult
    public mutating func revoke(_ peer: String) throws(SecurityError) -> Revocation {
        let key = Fingerprint(peer)
        let revocation = revoke(
            client: { $0.name == peer || $0.fingerprint == key },
            service: {
                $0.instance == peer || "\($0.service)/\($0.instance)" == peer || $0.fingerprint == key
            })
        guard !revocation.clients.isEmpty || !revocation.services.isEmpty else {
            throw SecurityError(
                .unknownPeer,
                "no trusted peer has that name or fingerprint; a fingerprint has to be given whole "
                    + "(elemental trust list)")
        }
        return revocation
    }

    /// Removes the peer with a fingerprint from both lists.
    @discardableResult
    public mutating func revoke(_ key: Fingerprint) -> Revocation {
        revoke(client: { $0.fingerprint == key }, service: { $0.fingerprint == key })
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
