/// Resolves the listed services, and watches them for changes while they have a place.
///
/// The reference that resolves a service keeps answering when the SRV or TXT record changes, so it serves as the watch.
/// (Avahi answers when the old record has expired, a second after the change: RFC 6762, section 10.2.)
extension BrowserMachine {
    /// Avahi gives up after 5 s by itself; this is for a daemon that hangs.
    private static let lookupLimit = Duration.seconds(8)

    mutating func queueLookup(_ instance: ServiceInstance) {
        guard let entry = entries[instance], case .none = entry.lookup else { return }
        entries[instance]?.lookup = .pending
        if entry.failures == 0 { fresh.append(.service(instance)) } else { repeated.append(.service(instance)) }
    }

    mutating func beginLookup(_ instance: ServiceInstance) {
        let id = ids.reference()
        references[id] = .lookup(instance)
        let limit = startTimer(Self.lookupLimit, for: .lookupLimit(instance))
        entries[instance]?.lookup = .resolving(id, limit: limit)
        actions.append(.open(id, .resolve(instance)))
    }

    mutating func handleLookup(_ event: ReferenceEvent, of instance: ServiceInstance) {
        switch event {
        case .reply(.resolved(_, let host, let port, let txt)):
            guard let entry = entries[instance] else { return }
            if case .resolving(let id, let limit) = entry.lookup {
                cancelTimer(limit)
                entries[instance]?.lookup = .watching(id)
            }
            entries[instance]?.location = ServiceEntry.Location(host: host, port: port, txt: txt)
            if let old = entry.location?.host, old != host {
                leave(old, instance)
            }
            join(host, instance)
            tell(instance)
        case .opened, .reply:
            break
        case .openingFailed(let error):
            lookupFailed(instance, .translating(error, while: "resolving \(instance)"))
        case .failed(let error):
            // Avahi returns the same error code when there is no answer for 5 s and when the daemon dies. A dead daemon
            // fails browsing too, which reports it.
            let message = "resolving \(instance): it is listed, but its host does not answer"
            lookupFailed(instance, ZeroconfError(.timedOut, message, cause: error))
        }
    }

    mutating func lookupTimedOut(_ instance: ServiceInstance, timer: TimerID) {
        guard case .resolving(_, timer) = entries[instance]?.lookup else { return }
        lookupFailed(instance, ZeroconfError(.timedOut, "resolving \(instance): no answer in \(Self.lookupLimit)"))
    }

    mutating func retryLookup(_ instance: ServiceInstance, timer: TimerID) {
        guard case .waiting(timer) = entries[instance]?.lookup else { return }
        entries[instance]?.lookup = .none
        queueLookup(instance)
    }

    mutating func lookupFailed(_ instance: ServiceInstance, _ error: ZeroconfError) {
        endLookup(instance)
        guard var entry = entries[instance] else { return }
        let wait = entry.delay.next()
        entry.failures += 1
        entry.lookup = .waiting(startTimer(wait, for: .lookupRetry(instance)))
        // A single failure of a service that was found usually means that the daemon died, which is reported elsewhere.
        let isWorthReporting = entry.lastReported == nil || entry.failures > 1
        actions.append(.log(.debug("\(error); retrying in \(wait)")))
        if isWorthReporting {
            entry.isReportedUnresolved = true
            actions.append(.emit(.unresolved(instance, error)))
        }
        entries[instance] = entry
    }

    /// Releases everything that a service's lookup holds.
    mutating func endLookup(_ instance: ServiceInstance) {
        guard let entry = entries[instance] else { return }
        switch entry.lookup {
        case .resolving(let id, let limit):
            cancelTimer(limit)
            close(id)
        case .watching(let id):
            close(id)
        case .waiting(let timer):
            cancelTimer(timer)
        case .none, .pending, .resting:
            break
        }
        forget(.service(instance))
        if let host = entry.location?.host {
            leave(host, instance)
        }
        entries[instance]?.lookup = .none
        entries[instance]?.location = nil
    }

    /// Reports a service to the consumers if everything about it is known and something is new.
    mutating func tell(_ instance: ServiceInstance) {
        guard var entry = entries[instance], let location = entry.location, let host = hosts[location.host],
            host.isReady, !host.addresses.isEmpty
        else { return }
        entry.failures = 0
        entry.delay.reset()
        let service = ResolvedService(
            instance: instance, host: location.host, port: location.port, txt: TXTRecord(decoding: location.txt),
            addresses: host.addresses.sorted)
        if entry.lastReported == nil {
            actions.append(.emit(.found(service)))
        } else if entry.lastReported != service {
            actions.append(.emit(.updated(service)))
        }
        entry.lastReported = service
        entries[instance] = entry
    }

    mutating func close(_ id: ReferenceID) {
        references[id] = nil
        actions.append(.close(id))
    }

    mutating func cancelTimer(_ id: TimerID) {
        timers[id] = nil
        actions.append(.cancelTimer(id))
    }
}
