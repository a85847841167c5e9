import Support

/// The queries and changes of a client.
extension TrustedPeers {
    /// The maximum number of hosts that are kept for a service.
    static let maximumHostCount = 16
    /// The maximum number of names under which one key may be pinned for one service.
    private static let maximumInstanceCount = 8

    /// The services whose pairing is complete.
    private var paired: [TrustedService] { services.filter { !$0.isPending } }

    /// The pins that apply to a target and decide which key it must have.
    ///
    /// The wanted service and instance decide first, then the TXT record. The record can only find a pinned key under a
    /// new name, or at another service of the same identity. A pin binds the service that was paired: the other
    /// services of its host are connected to by name as if nothing was paired. A host and port without a name may be
    /// the paired service, whatever the port. For loopback, where every program has the same address, the port counts.
    package func match(_ target: ConnectionTarget, own: Fingerprint) -> PinMatch {
        if let pinned = pinned(target.service, target.instance) { return .pinned(pinned) }
        let identity = target.advertisedIdentity?.lowercased()
        if identity == own.short { return .own }
        let claimed = paired.filter { $0.fingerprint.short == identity }
        let sameService = claimed.filter { $0.isService(target.service) }
        if let first = sameService.first, sameService.allSatisfy({ $0.fingerprint == first.fingerprint }) {
            return .renamed(first)
        }
        guard target.instance != nil else {
            let known = paired.filter { claimed.contains($0) || $0.isReached(at: target) }
            return known.isEmpty ? .nothing : .knownHost(known)
        }
        let known = paired.filter {
            sameService.contains($0) || $0.isService(target.service) && $0.isReached(at: target, samePort: true)
        }
        if !known.isEmpty { return .knownHost(known) }
        return claimed.first.map { .sibling($0) } ?? .nothing
    }

    /// The meaning of a key that the target has proved in TLS.
    package func verdict(on key: Fingerprint, of target: ConnectionTarget, own: Fingerprint) -> PinVerdict {
        switch match(target, own: own) {
        case .pinned(let entry), .renamed(let entry):
            return key == entry.fingerprint ? .trusted(entry) : .identityChanged
        case .own: return key == own ? .own : .identityChanged
        case .sibling(let entry): return key == entry.fingerprint ? .sibling(entry) : .notPaired
        case .nothing: return verdict(on: key, among: paired, target, own)
        case .knownHost(let entries):
            let exact = entries.filter { $0.isReached(at: target, samePort: true) }
            // A given host and port stand for one service, as a name does.
            if target.instance == nil, !exact.isEmpty {
                guard exact.contains(where: { $0.fingerprint == key }) else { return .identityChanged }
                return verdict(on: key, among: exact, target, own)
            }
            return verdict(on: key, among: paired, target, own)
        }
    }

    /// Pins are for a service's name: another service with the same key is not trusted.
    private func verdict(
        on key: Fingerprint, among entries: [TrustedService], _ target: ConnectionTarget, _ own: Fingerprint
    ) -> PinVerdict {
        if key == own { return .own }
        let entry = entries.first { $0.fingerprint == key && (target.service == nil || $0.isService(target.service)) }
        return entry.map { .trusted($0) } ?? .notPaired
    }

    /// The completed entry of a service and instance.
    package func pinned(_ service: String?, _ instance: String?) -> TrustedService? {
        services.first { $0.isService(service, instance) && !$0.isPending }
    }

    /// Checks whether a service may be added. Call it before a pairing begins.
    ///
    /// - Throws: ``SecurityError/Code/ownKey``; ``SecurityError/Code/alreadyPinned`` if the service and instance are pinned
    ///   to another key; ``SecurityError/Code/invalidPeer``; ``SecurityError/Code/full``.
    public func checkPinning(_ service: TrustedService, own: Fingerprint) throws(SecurityError) {
        guard service.fingerprint != own else { throw .ownKey }
        try service.validate()
        if let pinned = pinned(service.service, service.instance) {
            guard pinned.fingerprint == service.fingerprint else {
                throw SecurityError(
                    .alreadyPinned,
                    "\(service.service)/\"\(service.instance)\" is paired with another key. If it really has a new "
                        + "identity, revoke the old one first (elemental trust revoke)")
            }
        } else if services.count >= Self.maximumCount, !services.contains(where: { $0.hasNames(of: service) }) {
            throw .full("services")
        }
    }

    /// Pins a service's key, or changes the role of a pinned service. A pending service does not change a pinned one.
    ///
    /// - Throws: as ``checkPinning(_:own:)-(TrustedService,_)``.
    public mutating func pin(_ service: TrustedService, own: Fingerprint) throws(SecurityError) {
        try checkPinning(service, own: own)
        var service = service
        if let index = services.firstIndex(where: { $0.hasNames(of: service) }) {
            let known = services[index]
            if service.isPending, !known.isPending { return }
            if known.fingerprint == service.fingerprint { service = service.merged(with: known) }
            services[index] = service
        } else {
            services.append(service)
        }
    }

    /// Removes a pending service, because its pairing has failed.
    public mutating func withdraw(_ service: TrustedService) {
        services.removeAll {
            $0.isPending && $0.hasNames(of: service) && $0.fingerprint == service.fingerprint
        }
    }

    /// Records where a trusted service was reached, after its key was proved: the host, and the instance's name if it
    /// is new.
    ///
    /// - Returns: whether anything changed, so that the store has to be written.
    @discardableResult
    public mutating func noteReached(
        _ key: Fingerprint, service: String, instance: String, at host: TrustedService.Host
    ) -> Bool {
        let before = services
        if let index = services.firstIndex(where: { $0.isService(service, instance) }) {
            guard services[index].fingerprint == key, !services[index].isPending else { return false }
            services[index].remember(host, isLatest: true)
        } else {
            let known = paired.filter { $0.fingerprint == key && $0.isService(service) }
            guard var renamed = known.first, known.count < Self.maximumInstanceCount, services.count < Self.maximumCount
            else { return false }
            renamed.instance = instance
            renamed.hosts = [host]
            guard (try? renamed.validate()) != nil else { return false }
            services.append(renamed)
        }
        return services != before
    }
}

extension TrustedService {
    /// Whether the service has this name; `false` for `nil`.
    package func isService(_ name: String?) -> Bool { name.map(service.isSameName) ?? false }

    fileprivate func isService(_ name: String?, _ instance: String?) -> Bool {
        isService(name) && instance.map(self.instance.isSameName) ?? false
    }

    fileprivate func hasNames(of other: TrustedService) -> Bool { isService(other.service, other.instance) }

    /// The same service, with the hosts of both entries.
    func merged(with other: TrustedService) -> TrustedService {
        var merged = self
        for host in other.hosts { merged.remember(host, isLatest: false) }
        return merged
    }

    package func isReached(at target: ConnectionTarget, samePort: Bool = false) -> Bool {
        let targets = target.hosts.map(ComparableHost.init)
        return hosts.contains { host in
            let known = ComparableHost(host.name)
            return targets.contains(known) && (host.port == target.port || !samePort && !known.isLoopback)
        }
    }

    /// Stores a host once, with its latest port. The newest is first, and the last is dropped beyond the maximum.
    fileprivate mutating func remember(_ host: Host, isLatest: Bool) {
        guard TrustName.isValid(host.name, maximumByteCount: TrustName.maximumHostByteCount) else { return }
        let name = ComparableHost(host.name)
        if let index = hosts.firstIndex(where: { ComparableHost($0.name) == name }) {
            if isLatest { hosts[index].port = host.port }
            return
        }
        if isLatest { hosts.insert(host, at: 0) } else { hosts.append(host) }
        if hosts.count > TrustedPeers.maximumHostCount { hosts.removeLast() }
    }
}
