import Support

/// Maintains the list of one type's services: counts the browse replies, resolves and watches the services, and
/// recovers from failures.
struct BrowserMachine: ServiceMachine {
    typealias Event = ServiceBrowser.Event
    typealias Action = MachineAction<Event>

    enum Phase {
        case idle
        case opening(ReferenceID, limit: TimerID)
        /// The timer expires when the list has settled.
        case browsing(ReferenceID, settling: TimerID)
        case waiting(TimerID)
    }

    enum TimerPurpose {
        case lookupLimit(ServiceInstance)
        case lookupRetry(ServiceInstance)
        case hostLimit(String)
        case hostGrace(String)
        case turn
        case firstAnswers
    }

    enum ReferencePurpose {
        case lookup(ServiceInstance)
        case addresses(String)
    }

    /// The call that begins to browse returns in milliseconds unless the daemon hangs.
    static let openingLimit = Duration.seconds(10)
    /// mDNS asks after 0, 1 and 3 seconds and answers take at most 0.5 s (RFC 6762, section 5.2 and 6): a service that
    /// has not been seen by then is gone.
    static let settlingTime = Duration.seconds(6)
    /// Avahi's own time for the first answers ("all for now"), an event that its compatibility library does not pass
    /// on.
    static let firstAnswerTime = Duration.seconds(1)
    static let maximumEntryCount = 4096

    let type: ServiceType
    let domain = "local."
    var phase = Phase.idle
    var ids = IDGenerator()
    var delay = BackOff()
    var entries: [ServiceInstance: ServiceEntry] = [:]
    var hosts: [String: HostEntry] = [:]
    var references: [ReferenceID: ReferencePurpose] = [:]
    var timers: [TimerID: TimerPurpose] = [:]
    /// The subjects that wait for a place for their first lookup, the oldest first.
    var fresh: [Subject] = []
    /// The subjects that wait for a place for another lookup, the oldest first.
    var repeated: [Subject] = []
    /// The subjects that have places, the oldest first.
    var open: [Subject] = []
    /// The subjects that were looked up and have no place now. The one with the smallest number has rested for longest.
    var resting: [Subject: Int] = [:]
    var lastRest = 0
    /// Expires when the next resting subject is looked up again.
    var turn: TimerID?
    private var isSurveyWanted = false
    private var haveFirstAnswersCome = false
    /// The actions that result from the current input.
    var actions: [Action] = []

    init(type: ServiceType) {
        self.type = type
    }

    func replay() -> [Event] {
        entries.values.compactMap(\.lastReported).map { .found($0) }
    }

    mutating func handle(_ input: MachineInput) -> [Action] {
        switch input {
        case .start:
            start()
        case .survey:
            isSurveyWanted = true
            if case .browsing = phase { awaitFirstAnswers() }
        case .stop:
            closeEverything()
            isSurveyWanted = false
            entries = [:]
            phase = .idle
            delay.reset()
        case .update:
            break
        case .timer(let id):
            handleTimer(id)
        case .reference(let id, let event):
            handle(event, from: id)
        }
        startLookups()
        defer { actions = [] }
        return actions
    }

    /// Whether the first answers have arrived, and each service has been resolved or has failed.
    var isSurveyed: Bool { haveFirstAnswersCome && entries.values.allSatisfy(\.isReported) }

    private mutating func awaitFirstAnswers() { _ = startTimer(Self.firstAnswerTime, for: .firstAnswers) }

    /// Starts browsing and ends the back-off of failed lookups, and looks up resting subjects again: a new subscriber
    /// needs the current state.
    private mutating func start() {
        switch phase {
        case .idle: browse()
        case .waiting(let timer):
            actions.append(.cancelTimer(timer))
            browse()
        case .opening, .browsing: break
        }
        for (instance, entry) in entries {
            guard case .waiting(let timer) = entry.lookup else { continue }
            cancelTimer(timer)
            retryLookup(instance, timer: timer)
        }
        renewAll()
    }

    private mutating func handleTimer(_ id: TimerID) {
        switch phase {
        case .opening(_, let limit) where limit == id:
            let message = "browsing for \(type): the daemon does not answer; \(ZeroconfError.daemonAdvice)"
            return fail(ZeroconfError(.daemonUnavailable, message))
        case .browsing(_, let settling) where settling == id:
            return settle()
        case .waiting(let timer) where timer == id:
            return browse()
        default:
            break
        }
        switch timers.removeValue(forKey: id) {
        case .lookupLimit(let instance): lookupTimedOut(instance, timer: id)
        case .lookupRetry(let instance): retryLookup(instance, timer: id)
        case .hostLimit(let host): hostTimedOut(host, timer: id)
        case .hostGrace(let host): hostIsReady(host)
        case .turn: takeTurn()
        case .firstAnswers: haveFirstAnswersCome = true
        case nil: break
        }
    }

    private mutating func handle(_ event: ReferenceEvent, from id: ReferenceID) {
        switch phase {
        case .opening(let current, _) where current == id, .browsing(let current, _) where current == id:
            return handleBrowsing(event, from: id)
        default:
            break
        }
        switch references[id] {
        case .lookup(let instance): handleLookup(event, of: instance)
        case .addresses(let host): handleAddresses(event, of: host)
        case nil: break
        }
    }

    private mutating func browse() {
        let id = ids.reference()
        let limit = startTimer(Self.openingLimit)
        phase = .opening(id, limit: limit)
        actions.append(.open(id, .browse(type: type, domain: domain)))
    }

    private mutating func handleBrowsing(_ event: ReferenceEvent, from id: ReferenceID) {
        switch event {
        case .opened:
            guard case .opening(_, let limit) = phase else { return }
            actions.append(.cancelTimer(limit))
            phase = .browsing(id, settling: startTimer(Self.settlingTime))
            if isSurveyWanted { awaitFirstAnswers() }
        case .reply(.browsed(let isAdded, let interface, let name, let domain)):
            let instance = ServiceInstance(name: name, type: type, domain: domain)
            isAdded ? add(instance, on: interface) : remove(instance, from: interface)
        case .reply:
            break
        case .openingFailed(let error), .failed(let error):
            fail(.translating(error, while: "browsing for \(type)"))
        }
    }

    private mutating func add(_ instance: ServiceInstance, on interface: UInt32) {
        guard entries[instance] != nil || entries.count < Self.maximumEntryCount else {
            return actions.append(
                .log(.warning("more than \(Self.maximumEntryCount) services; \(instance) is not listed")))
        }
        entries[instance, default: ServiceEntry()].interfaces[interface, default: 0] += 1
        queueLookup(instance)
    }

    private mutating func remove(_ instance: ServiceInstance, from interface: UInt32) {
        guard let count = entries[instance]?.interfaces[interface] else { return }
        entries[instance]?.interfaces[interface] = count > 1 ? count - 1 : nil
        if entries[instance]?.isListed == false {
            drop(instance)
        }
    }

    /// Drops the services that are not listed by now: they disappeared while the daemon was away.
    private mutating func settle() {
        delay.reset()
        for (instance, entry) in entries where !entry.isListed {
            drop(instance)
        }
    }

    private mutating func drop(_ instance: ServiceInstance) {
        endLookup(instance)
        if let entry = entries.removeValue(forKey: instance), entry.isReported {
            actions.append(.emit(.gone(instance)))
        }
    }

    private mutating func fail(_ error: ZeroconfError) {
        closeEverything()
        // Only services that consumers know of have to be reconciled later.
        entries = entries.filter(\.value.isReported).mapValues { entry in
            var kept = ServiceEntry()
            kept.lastReported = entry.lastReported
            kept.isReportedUnresolved = entry.isReportedUnresolved
            return kept
        }
        let wait = delay.next()
        phase = .waiting(startTimer(wait))
        actions += [.log(.warning("\(error); retrying in \(wait)")), .emit(.failed(error, retryIn: wait))]
    }

    private mutating func closeEverything() {
        switch phase {
        case .idle: break
        case .opening(let id, let timer), .browsing(let id, let timer): actions += [.cancelTimer(timer), .close(id)]
        case .waiting(let timer): actions.append(.cancelTimer(timer))
        }
        actions += references.keys.map { .close($0) } + timers.keys.map { .cancelTimer($0) }
        references = [:]
        timers = [:]
        hosts = [:]
        fresh = []
        repeated = []
        open = []
        resting = [:]
        turn = nil
        haveFirstAnswersCome = false
    }

    mutating func startTimer(_ delay: Duration, for purpose: TimerPurpose? = nil) -> TimerID {
        let id = ids.timer()
        timers[id] = purpose
        actions.append(.startTimer(id, delay))
        return id
    }
}
