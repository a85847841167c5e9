/// Looks up and watches the addresses of hosts, once for all services of a host.
extension BrowserMachine {
    /// A query for an address that no host has is never answered, so it needs a time limit.
    private static let hostLimit = Duration.seconds(5)
    /// Like ``ResolveMachine/familyGrace``, but shorter: the first line of a list waits for it, and a later address is
    /// reported as an update.
    static let familyGrace = Duration.milliseconds(1)
    /// The grace period for a repeated lookup. No consumer waits for it, and without it a late address would cause two
    /// updates.
    static let repeatedGrace = Duration.milliseconds(500)

    /// Adds a service to its host, and looks up the host if it is new or has no place.
    mutating func join(_ name: String, _ instance: ServiceInstance) {
        let isNew = hosts[name] == nil
        guard hosts[name, default: HostEntry()].instances.insert(instance).inserted else { return }
        if !isNew {
            renew(.host(name))
        } else if entries[instance]?.failures == 0 {
            // Hosts come before services: a service that is already resolved can then be reported soon.
            fresh.insert(.host(name), at: 0)
        } else {
            repeated.append(.host(name))
        }
    }

    mutating func beginLookup(ofHost name: String) {
        guard var host = hosts[name] else { return }
        host.lookup = .asking
        host.collected = HostAddresses()
        host.limit = startTimer(Self.hostLimit, for: .hostLimit(name))
        for family in NetworkAddress.Family.allCases {
            let id = ids.reference()
            references[id] = .addresses(name)
            host.references.append(id)
            actions.append(.open(id, .addresses(host: name, family: family)))
        }
        hosts[name] = host
    }

    /// Removes a service from its host, and releases the host with its last service.
    mutating func leave(_ name: String, _ instance: ServiceInstance) {
        hosts[name]?.instances.remove(instance)
        guard var host = hosts[name], host.instances.isEmpty else { return }
        cancelTimers(of: &host)
        host.references.forEach { close($0) }
        forget(.host(name))
        hosts[name] = nil
    }

    mutating func handleAddresses(_ event: ReferenceEvent, of name: String) {
        switch event {
        case .reply(.record(let isAdded, let interface, let data)):
            if case .watching = hosts[name]?.lookup {
                if hosts[name]?.addresses.apply(isAdded: isAdded, interface: interface, data: data) == true {
                    hosts[name]?.instances.forEach { tell($0) }
                }
            } else {
                collect(isAdded, interface, data, of: name)
            }
        case .opened, .reply:
            break
        case .openingFailed(let error), .failed(let error):
            fail(name, .translating(error, while: "looking up the addresses of \(name)"))
        }
    }

    private mutating func collect(_ isAdded: Bool, _ interface: UInt32, _ data: [UInt8], of name: String) {
        guard var host = hosts[name], host.collected.apply(isAdded: isAdded, interface: interface, data: data) else {
            return
        }
        if host.grace == nil, !host.collected.isEmpty {
            host.grace = startTimer(host.isReady ? Self.repeatedGrace : Self.familyGrace, for: .hostGrace(name))
        }
        hosts[name] = host
        let isComplete =
            host.isReady ? host.collected.sorted == host.addresses.sorted : host.collected.hasBothFamilies
        if isComplete { hostIsReady(name) }
    }

    mutating func hostIsReady(_ name: String) {
        guard var host = hosts[name], case .asking = host.lookup else { return }
        guard !host.collected.isEmpty else {
            // The only address was removed in the meantime; the limit is still running.
            hosts[name]?.grace = nil
            return
        }
        host.lookup = .watching
        host.addresses = host.collected
        host.isReady = true
        cancelTimers(of: &host)
        hosts[name] = host
        host.instances.forEach { tell($0) }
    }

    mutating func hostTimedOut(_ name: String, timer: TimerID) {
        guard let host = hosts[name], case .asking = host.lookup, host.limit == timer else { return }
        guard host.collected.isEmpty else { return hostIsReady(name) }
        fail(name, ZeroconfError(.timedOut, "no address of \(name) was found within \(Self.hostLimit)"))
    }

    private mutating func fail(_ name: String, _ error: ZeroconfError) {
        hosts[name]?.instances.forEach { lookupFailed($0, error) }
    }

    private mutating func cancelTimers(of host: inout HostEntry) {
        [host.limit, host.grace].compactMap { $0 }.forEach { cancelTimer($0) }
        host.limit = nil
        host.grace = nil
    }
}
