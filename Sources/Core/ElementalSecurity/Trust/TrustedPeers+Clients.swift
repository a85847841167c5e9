import ElementalWire

/// The queries and changes of a service.
extension TrustedPeers {
    /// The role that was granted to a client for a service, or `nil` for none.
    ///
    /// An entry that names the service takes precedence over an entry for all services. Of several entries the lowest
    /// role counts; a role that this version does not know is lower than all others.
    public func role(of client: Fingerprint, for service: String) -> Role? {
        let entries = clients.filter { $0.fingerprint == client && $0.services.contains(service) }
        let named = entries.filter { $0.services != .all }
        let roles = (named.isEmpty ? entries : named).map(\.role)
        guard let first = roles.first else { return nil }
        return roles.reduce(first) { least, role in
            if let least, let role { min(least, role) } else { nil }
        }
    }

    /// Checks whether a client may be added. Call it before a pairing begins.
    ///
    /// - Throws: ``SecurityError/Code/ownKey``; ``SecurityError/Code/alreadyPinned`` if another key has its name;
    ///   ``SecurityError/Code/invalidPeer``; ``SecurityError/Code/full``.
    public func checkPinning(_ client: TrustedClient, own: Fingerprint) throws(SecurityError) {
        guard client.fingerprint != own else { throw .ownKey }
        try client.validate()
        guard !clients.contains(where: { $0.name == client.name && $0.fingerprint != client.fingerprint }) else {
            throw SecurityError(
                .alreadyPinned,
                "another client is already trusted as \"\(client.name)\"; revoke it first "
                    + "(elemental trust revoke), or rename this one")
        }
        guard clients.count < Self.maximumCount || clients.contains(where: { $0.fingerprint == client.fingerprint })
        else { throw .full("clients") }
    }

    /// Adds a client, or changes its grant: for the services of `client`, its role is now the valid one.
    ///
    /// - Throws: as ``checkPinning(_:own:)-(TrustedClient,_)``.
    public mutating func pin(_ client: TrustedClient, own: Fingerprint) throws(SecurityError) {
        try checkPinning(client, own: own)
        var entries = clients.filter { $0.fingerprint == client.fingerprint }
        clients.removeAll { $0.fingerprint == client.fingerprint }
        for index in entries.indices {
            entries[index].name = client.name
            entries[index].services.subtract(client.services)
        }
        entries.removeAll { $0.services == [] }
        let match = entries.firstIndex { $0.storedRole == client.storedRole && $0.pairedBy == client.pairedBy }
        if let match, let both = entries[match].services.union(client.services) {
            entries[match].services = both
        } else {
            entries.append(client)
        }
        clients += entries
    }
}

extension TrustedClient.Services {
    /// Removes the services of another entry: all, or some names. `all` cannot exclude names, so it stays: entries with
    /// names take precedence over it.
    fileprivate mutating func subtract(_ other: Self) {
        switch (self, other) {
        case (_, .all): self = []
        case (.named(let names), .named): self = .named(names.filter { !other.contains($0) })
        case (.all, .named): break
        }
    }

    /// Both together, or `nil` if they are of different kinds: names take precedence over `all`.
    fileprivate func union(_ other: Self) -> Self? {
        switch (self, other) {
        case (.all, .all): .all
        case (.named(let names), .named(let others)): .named(names.union(others.filter { !contains($0) }))
        case (.all, .named), (.named, .all): nil
        }
    }
}
