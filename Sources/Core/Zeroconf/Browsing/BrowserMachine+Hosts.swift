/// Looking up and watching the addresses of the hosts, once for all services of a host.
extension BrowserMachine {
    private static let mostWatchedHosts = 32
    /// A query for an address that no host has is never answered, so it needs a time limit.
    private static let hostLimit = Duration.seconds(5)
    /// The same as ``ResolveMachine/familyGrace``, but shorter: the first line of a list waits for it, and what comes later is
    /// told as a change.
    static let familyGrace = Duration.milliseconds(1)

    /// Adds a service to the host's count and looks the host up unless its addresses are already being watched.
    mutating func join(_ name: String, _ instance: ServiceInstance) {
        var host = hosts[name] ?? HostEntry(isWatched: hosts.values.count { $0.isWatched } < Self.mostWatchedHosts)
        let isNew = host.instances.insert(instance).inserted
        if isNew && host.references.isEmpty {
            host.isReady = false
            host.addresses = HostAddresses()
            host.limit = startTimer(Self.hostLimit, for: .hostLimit(name))
            for family in NetworkAddress.Family.allCases {
                let id = ids.reference()
                references[id] = .addresses(name)
                host.references.append(id)
                actions.append(.open(id, .addresses(host: name, family: family)))
            }
        }
        hosts[name] = host
    }

    /// Counts a service out and lets the host go with the last one.
    mutating func leave(_ name: String, _ instance: ServiceInstance) {
        guard var host = hosts[name] else { return }
        host.instances.remove(instance)
        if host.instances.isEmpty {
            closeQueries(of: &host)
            hosts[name] = nil
        } else {
            hosts[name] = host
        }
    }

    mutating func handleAddresses(_ event: ReferenceEvent, of name: String) {
        switch event {
        case .reply(.record(let isAdded, let interface, let data)):
            guard var host = hosts[name], host.addresses.apply(isAdded: isAdded, interface: interface, data: data)
            else { return }
            if !host.isReady, host.grace == nil, !host.addresses.isEmpty {
                host.grace = startTimer(Self.familyGrace, for: .hostGrace(name))
            }
            hosts[name] = host
            if host.isReady {
                host.instances.forEach { tell($0) }
            } else if host.addresses.hasBothFamilies {
                hostIsReady(name)
            }
        case .opened, .reply:
            break
        case .openingFailed(let error), .failed(let error):
            fail(name, .translating(error, while: "looking up the addresses of \(name)"))
        }
    }

    mutating func hostIsReady(_ name: String) {
        guard var host = hosts[name], !host.isReady else { return }
        guard !host.addresses.isEmpty else {
            // The only address was taken back in the meantime; the limit is still running.
            hosts[name]?.grace = nil
            return
        }
        host.isReady = true
        if host.isWatched {
            cancelTimers(of: &host)
        } else {
            closeQueries(of: &host)
        }
        hosts[name] = host
        host.instances.forEach { tell($0) }
    }

    mutating func hostTimedOut(_ name: String, timer: TimerID) {
        guard let host = hosts[name], !host.isReady, host.limit == timer else { return }
        guard host.addresses.isEmpty else { return hostIsReady(name) }
        fail(name, ZeroconfError(.timedOut, "no address of \(name) was found within \(Self.hostLimit)"))
    }

    private mutating func fail(_ name: String, _ error: ZeroconfError) {
        hosts[name]?.instances.forEach { lookupFailed($0, error) }
    }

    private mutating func closeQueries(of host: inout HostEntry) {
        cancelTimers(of: &host)
        host.references.forEach { close($0) }
        host.references = []
    }

    private mutating func cancelTimers(of host: inout HostEntry) {
        [host.limit, host.grace].compactMap { $0 }.forEach { cancelTimer($0) }
        host.limit = nil
        host.grace = nil
    }
}
