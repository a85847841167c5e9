import Logging
import Support
import Zeroconf

/// Verifies the entries of the common listing, as a state machine without sockets and clock.
///
/// An entry is reported under the name that it claims, once the claimed instance resolves to the same host and port.
/// Only a few checks run at a time, those of new entries first; failed ones are retried with a growing delay.
struct CommonListing {
    struct Check: Sendable {
        let number: Int
        let entry: ServiceInstance
        let claim: ServiceInstance
        let limit: Duration
    }

    enum Input: Sendable {
        case listing(ServiceBrowser.Event)
        case answer(Check, Result<ResolvedService, ZeroconfError>)
        case tick
        /// The listing has ended. The checks that are due are still made.
        case end
    }

    enum Action {
        case tell(ElementalBrowser.Event)
        case check(Check)
        case wait(Duration)
        case note(String)
    }

    private enum State: Equatable {
        case queued
        case checking(Int)
        /// The check failed; the next one is due at that time.
        case waiting(ContinuousClock.Instant)
        case proven
    }

    private struct Entry {
        var service: ResolvedService
        let claim: ServiceClaim
        var state = State.queued
        var failures = 0
        var delay = BackOff()

        var isWaiting: Bool { if case .waiting = state { true } else { false } }

        mutating func restart(as state: State) {
            self.state = state
            failures = 0
            delay.reset()
        }
    }

    static let maximumCheckCount = 8
    /// Most entries resolve within milliseconds: a short timeout keeps a new entry from waiting long behind false ones.
    private static let firstLimit = Duration.seconds(1)
    /// Avahi gives up after 5 s.
    private static let repeatedLimit = Duration.seconds(5)
    private static let tickInterval = Duration.seconds(1)

    private var entries: [ServiceInstance: Entry] = [:]
    private var told: [ServiceInstance: ServiceInstance] = [:]
    private var toldUnresolved: Set<ServiceInstance> = []
    private var newEntries: ArraySlice<ServiceInstance> = []
    private var repeated: ArraySlice<ServiceInstance> = []
    private var checksUnderWay = 0
    private var lastCheck = 0
    private var isTicking = false
    private var isAtEnd = false
    private var actions: [Action] = []

    mutating func handle(_ input: Input, at now: ContinuousClock.Instant) -> [Action] {
        switch input {
        case .listing(.found(let service)), .listing(.updated(let service)): list(service)
        case .listing(.gone(let instance)): remove(instance)
        case .listing(.unresolved(let instance, let error)):
            let name = name(of: instance)
            if name == nil { toldUnresolved.insert(instance) }
            tell(.unresolved(instance, error), as: name)
        case .listing(let event): tell(event)
        case .answer(let check, let result): settle(check, result, at: now)
        case .tick: repeatChecks(at: now)
        case .end: isAtEnd = true
        }
        startChecks()
        startTicking()
        defer { actions = [] }
        return actions
    }

    fileprivate var isFinished: Bool { isAtEnd && checksUnderWay == 0 }

    private mutating func tell(_ event: ServiceBrowser.Event, as claim: ServiceInstance? = nil) {
        actions.append(.tell(ElementalBrowser.Event(event, as: claim)))
    }

    private mutating func list(_ service: ResolvedService) {
        let instance = service.instance
        let claim = ServiceClaim(service)
        guard let old = entries[instance], old.claim == claim else {
            withdraw(instance)
            return add(service, claim)
        }
        entries[instance]?.service = service
        switch claim {
        case .nothing:
            tell(.updated(service))
        case .instance(let claimed) where old.service.isAtSamePlace(as: service):
            guard told[claimed] == instance, old.state == .proven else { return }
            tell(.updated(service), as: claimed)
        case .instance where old.state == .proven || old.isWaiting:
            entries[instance]?.restart(as: .queued)
            newEntries.append(instance)
        case .instance, .invalid:
            break
        }
    }

    private mutating func add(_ service: ResolvedService, _ claim: ServiceClaim) {
        let instance = service.instance
        entries[instance] = Entry(service: service, claim: claim)
        switch claim {
        case .nothing:
            toldUnresolved.remove(instance)
            tell(.found(service))
        case .invalid:
            actions.append(.note("\(instance) is not shown: what it claims to be can be no service (\(service.txt))"))
        case .instance:
            newEntries.append(instance)
        }
    }

    private mutating func remove(_ instance: ServiceInstance) {
        withdraw(instance)
        newEntries.removeAll { $0 == instance }
        repeated.removeAll { $0 == instance }
        if toldUnresolved.remove(instance) != nil { tell(.gone(instance)) }
    }

    private func name(of instance: ServiceInstance) -> ServiceInstance? {
        switch entries[instance]?.claim {
        case .nothing: instance
        case .instance(let claimed) where told[claimed] == instance: claimed
        case .instance, .invalid, nil: nil
        }
    }

    private mutating func withdraw(_ instance: ServiceInstance) {
        let name = name(of: instance)
        entries[instance] = nil
        if let name { release(name) }
    }

    private mutating func release(_ claimed: ServiceInstance) {
        let heir = entries.first { $0.value.state == .proven && $0.value.claim == .instance(claimed) }
        told[claimed] = heir?.key
        tell(heir.map { .updated($0.value.service) } ?? .gone(claimed), as: claimed)
    }

    private mutating func startChecks() {
        while checksUnderWay < Self.maximumCheckCount, let instance = newEntries.popFirst() ?? repeated.popFirst() {
            guard let entry = entries[instance], case .queued = entry.state, case .instance(let claimed) = entry.claim
            else { continue }
            lastCheck += 1
            checksUnderWay += 1
            entries[instance]?.state = .checking(lastCheck)
            let limit = entry.failures == 0 ? Self.firstLimit : Self.repeatedLimit
            actions.append(.check(Check(number: lastCheck, entry: instance, claim: claimed, limit: limit)))
        }
    }

    private mutating func settle(
        _ check: Check, _ result: Result<ResolvedService, ZeroconfError>, at now: ContinuousClock.Instant
    ) {
        checksUnderWay -= 1
        guard let entry = entries[check.entry], case .checking(check.number) = entry.state else { return }
        switch result {
        case .success(let claimed) where claimed.isAtSamePlace(as: entry.service):
            prove(check.entry, check.claim, at: now)
        case .success(let claimed):
            fail(check.entry, check.claim, "which is at \(claimed.host):\(claimed.port)", at: now)
        case .failure(let error):
            fail(check.entry, check.claim, "which cannot be resolved (\(error.message))", at: now)
        }
    }

    private mutating func prove(
        _ instance: ServiceInstance, _ claimed: ServiceInstance, at now: ContinuousClock.Instant
    ) {
        guard let entry = entries[instance] else { return }
        entries[instance]?.restart(as: .proven)
        toldUnresolved.remove(instance)
        guard let holder = told.updateValue(instance, forKey: claimed) else {
            return tell(.found(entry.service), as: claimed)
        }
        if holder != instance, let other = entries[holder] {
            if other.service.isAtSamePlace(as: entry.service) {
                // Both entries stand for the same service, so the first one stays reported.
                told[claimed] = holder
                return
            }
            // The instance is here now, so it has left the other place.
            fail(holder, claimed, "which is at \(entry.service.host):\(entry.service.port)", at: now)
        }
        tell(.updated(entry.service), as: claimed)
    }

    private mutating func fail(
        _ instance: ServiceInstance, _ claimed: ServiceInstance, _ reason: String, at now: ContinuousClock.Instant
    ) {
        guard var entry = entries[instance] else { return }
        entry.failures += 1
        let wait = entry.delay.next()
        entry.state = .waiting(now + wait)
        entries[instance] = entry
        actions.append(.note("\(instance) is not shown: it claims to be \(claimed), \(reason); next check in \(wait)"))
        // The first failure may come from cached records of a true entry whose service has moved.
        if entry.failures > 1, told[claimed] == instance { release(claimed) }
    }

    private mutating func startTicking() {
        guard !isTicking else { return }
        isTicking = entries.values.contains(where: \.isWaiting)
        if isTicking { actions.append(.wait(Self.tickInterval)) }
    }

    private mutating func repeatChecks(at now: ContinuousClock.Instant) {
        isTicking = false
        for (instance, entry) in entries {
            guard case .waiting(let time) = entry.state, time <= now else { continue }
            entries[instance]?.state = .queued
            repeated.append(instance)
        }
    }
}

extension ResolvedService {
    fileprivate func isAtSamePlace(as other: ResolvedService) -> Bool {
        port == other.port && host.isSameName(as: other.host)
    }
}

extension CommonListing {
    /// Ends with the browser's events, when the task is cancelled, or when `tell` returns false.
    static func run(
        _ events: AsyncStream<ServiceBrowser.Event>, logger: Logger,
        _ tell: @escaping @Sendable (ElementalBrowser.Event) -> Bool
    ) async {
        let (inputs, continuation) = AsyncStream.makeStream(
            of: Input.self, bufferingPolicy: .bufferingOldest(ElementalBrowser.bufferedEvents))
        let send = { @Sendable (input: Input) in
            // A listing that has missed an input would be wrong.
            if case .dropped = continuation.yield(input) { continuation.finish() }
        }
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in events { send(.listing(event)) }
                send(.end)
            }
            var listing = CommonListing()
            reading: for await input in inputs {
                for action in listing.handle(input, at: .now) {
                    switch action {
                    case .tell(let event):
                        if !tell(event) { break reading }
                    case .check(let check):
                        group.addTask { send(.answer(check, await resolve(check, logger))) }
                    case .wait(let time):
                        group.addTask {
                            await Delay.wait(time)
                            send(.tick)
                        }
                    case .note(let text):
                        logger.debug("\(text)")
                    }
                }
                if listing.isFinished { break }
            }
            group.cancelAll()
        }
    }

    private static func resolve(_ check: Check, _ logger: Logger) async -> Result<ResolvedService, ZeroconfError> {
        do throws(ZeroconfError) {
            return .success(
                try await Resolver.resolve(check.claim, timeout: check.limit, wantsAddresses: false, logger: logger))
        } catch {
            return .failure(error)
        }
    }
}
