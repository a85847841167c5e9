/// Resolves a service once: first host, port and TXT record, then the host's addresses.
struct ResolveMachine: ServiceMachine {
    typealias Event = Result<ResolvedService, ZeroconfError>
    typealias Action = MachineAction<Event>

    /// The wait for the second family after the first address. Avahi gives no answer at all if a host has no address of
    /// a family. A responder answers for its own records at once (RFC 6762, section 6), usually with both families in
    /// one packet. Every connection attempt waits this long, so it is short.
    static let familyGrace = Duration.milliseconds(3)
    /// The wait before another attempt: Avahi stops resolving after 5 s, though an answer may still arrive.
    private static let retryDelay = Duration.milliseconds(500)

    private struct Location {
        let host: String
        let port: Int
        let txt: [UInt8]
    }

    private let instance: ServiceInstance
    private let timeout: Duration
    private let wantsAddresses: Bool
    private var ids = IDGenerator()
    private var timeoutTimer: TimerID?
    private var graceTimer: TimerID?
    private var retryTimer: TimerID?
    private var resolution: ReferenceID?
    private var queries: [ReferenceID] = []
    private var location: Location?
    private var addresses = HostAddresses()
    private var isDone = false

    /// - Parameter wantsAddresses: whether to look up the host's addresses too, and not only its name.
    init(_ instance: ServiceInstance, timeout: Duration, wantsAddresses: Bool = true) {
        self.instance = instance
        self.timeout = timeout
        self.wantsAddresses = wantsAddresses
    }

    func replay() -> [Event] { [] }

    mutating func handle(_ input: MachineInput) -> [Action] {
        guard !isDone else { return [] }
        switch input {
        case .start:
            let timer = ids.timer()
            timeoutTimer = timer
            return [.startTimer(timer, timeout)] + resolve()
        case .stop:
            return finish(with: nil)
        case .update, .survey:
            return []
        case .timer(let id):
            return handleTimer(id)
        case .reference(let id, let event):
            if id == resolution { return handleResolution(event) }
            return queries.contains(id) ? handleQuery(event) : []
        }
    }

    private mutating func resolve() -> [Action] {
        let id = ids.reference()
        resolution = id
        return [.open(id, .resolve(instance))]
    }

    private mutating func handleTimer(_ id: TimerID) -> [Action] {
        switch id {
        case graceTimer:
            // If the address was withdrawn, the next address starts the timer again.
            graceTimer = nil
            return succeed()
        case retryTimer:
            return resolve()
        case timeoutTimer:
            return addresses.isEmpty ? finish(with: .failure(timeoutError)) : succeed()
        default:
            return []
        }
    }

    private var timeoutError: ZeroconfError {
        if let location {
            return ZeroconfError(
                .timedOut,
                "no address of \(instance)'s host was found within \(timeout): \(location.host)"
            )
        }
        return ZeroconfError(
            .timedOut,
            "\(instance) was not resolved within \(timeout); check that it runs and is on this network"
        )
    }

    private mutating func handleResolution(_ event: ReferenceEvent) -> [Action] {
        switch event {
        case .reply(.resolved(_, let host, let port, let txt)):
            guard location == nil else { return [] }
            location = Location(host: host, port: port, txt: txt)
            guard wantsAddresses else { return succeed() }
            return NetworkAddress.Family.allCases.map { family in
                let id = ids.reference()
                queries.append(id)
                return .open(id, .addresses(host: host, family: family))
            }
        case .opened, .reply:
            return []
        case .failed where location == nil:
            let timer = ids.timer()
            retryTimer = timer
            let entry = LogEntry.debug("no answer for \(instance); retrying in \(Self.retryDelay)")
            return closeResolution() + [.startTimer(timer, Self.retryDelay), .log(entry)]
        case .failed:
            return closeResolution()
        case .openingFailed(let error):
            return finish(with: .failure(.translating(error, while: "resolving \(instance)")))
        }
    }

    private mutating func handleQuery(_ event: ReferenceEvent) -> [Action] {
        switch event {
        case .reply(.record(let isAdded, let interface, let data)):
            guard addresses.apply(isAdded: isAdded, interface: interface, data: data), !addresses.isEmpty else {
                return []
            }
            if addresses.hasBothFamilies { return succeed() }
            guard graceTimer == nil else { return [] }
            let timer = ids.timer()
            graceTimer = timer
            return [.startTimer(timer, Self.familyGrace)]
        case .opened, .reply:
            return []
        case .failed(let error), .openingFailed(let error):
            return finish(with: .failure(.translating(error, while: "looking up the addresses of \(instance)")))
        }
    }

    private mutating func succeed() -> [Action] {
        guard let location, !(wantsAddresses && addresses.isEmpty) else { return [] }
        let service = ResolvedService(
            instance: instance, host: location.host, port: location.port, txt: TXTRecord(decoding: location.txt),
            addresses: addresses.sorted)
        return finish(with: .success(service))
    }

    private mutating func closeResolution() -> [Action] {
        defer { resolution = nil }
        return resolution.map { [.close($0)] } ?? []
    }

    private mutating func finish(with outcome: Event?) -> [Action] {
        isDone = true
        let timers = [timeoutTimer, graceTimer, retryTimer].compactMap { $0 }.map { Action.cancelTimer($0) }
        return timers + closeResolution() + queries.map { .close($0) } + (outcome.map { [.emit($0)] } ?? [])
    }
}
