import Testing

@testable import Zeroconf

/// The resolver's state machine without a daemon: the test simulates the library and the clock.
struct ResolveMachineTests {
    /// What happens to it, in the order in which it does.
    enum Step: Sendable {
        case located, ipv4, ipv6, removed
        case silence, refusal, lookupFailure
        /// The only timer of this length expires.
        case timer(Duration)
        case stop
    }

    private static let timeout = Duration.seconds(10)
    private static let retry = Duration.milliseconds(500)
    private static let grace = ResolveMachine.familyGrace

    @Test(
        arguments: [
            // Both families, in either order; one family, after a moment for the other.
            ([.located, .ipv4, .ipv6], "7000 [10.0.0.1, fd00::1]"),
            ([.located, .ipv6, .ipv4], "7000 [10.0.0.1, fd00::1]"),
            ([.located, .ipv4, .timer(grace)], "7000 [10.0.0.1]"),
            ([.located, .ipv6, .timer(grace)], "7000 [fd00::1]"),
            // An address that is withdrawn before the moment is over does not count, and the next one does.
            ([.located, .ipv4, .removed, .timer(grace)], nil),
            ([.located, .ipv4, .removed, .timer(grace), .ipv6, .timer(grace)], "7000 [fd00::1]"),
            // The whole time is over before that moment is.
            ([.located, .ipv4, .timer(timeout)], "7000 [10.0.0.1]"),
            // No answer: asked again until the time is over.
            ([.silence], nil), ([.silence, .timer(retry), .located, .ipv4, .ipv6], "7000 [10.0.0.1, fd00::1]"),
            ([.silence, .timer(retry), .silence, .timer(timeout)], "timedOut no answer"),
            ([.timer(timeout)], "timedOut no answer"),
            ([.located, .timer(timeout)], "_robot._tcp.local. is at rover.local., but no address"),
            // What follows a location changes nothing of it.
            ([.located, .silence, .ipv4, .ipv6], "7000 [10.0.0.1, fd00::1]"),
            ([.refusal], "refused resolving"),
            ([.located, .lookupFailure], "daemonUnavailable looking up the addresses"),
            ([.located, .ipv4, .stop], nil), ([.stop], nil),
        ] as [([Step], String?)])
    func aServiceIsResolvedOnce(_ steps: [Step], _ outcome: String?) throws {
        var bench = try ResolveBench(wantsAddresses: true)
        for step in steps { bench.take(step) }
        #expect(bench.outcomes.count == (outcome == nil ? 0 : 1))
        if let outcome { #expect(bench.outcomes.first?.contains(outcome) == true, "\(bench.outcomes)") }
        // Whatever came of it, nothing is left, and nothing more happens.
        if outcome != nil || steps.contains(where: { if case .stop = $0 { true } else { false } }) {
            #expect(bench.open.isEmpty && bench.timers.isEmpty)
            bench.handle(.start)
            #expect(bench.open.isEmpty && bench.timers.isEmpty)
        }
    }

    @Test func withoutAddressesTheLocationIsEnough() throws {
        var bench = try ResolveBench(wantsAddresses: false)
        bench.take(.located)
        #expect(bench.outcomes == ["7000 []"])
        #expect(bench.open.isEmpty && bench.timers.isEmpty)
    }
}

private struct ResolveBench {
    var machine: ResolveMachine
    var open: [ReferenceID: ServiceRequest] = [:]
    var timers: [TimerID: Duration] = [:]
    var outcomes: [String] = []

    init(wantsAddresses: Bool) throws {
        machine = ResolveMachine(
            ServiceInstance(name: "Rover", type: try .tcp("robot")), timeout: .seconds(10),
            wantsAddresses: wantsAddresses)
        handle(.start)
    }

    mutating func handle(_ input: MachineInput) {
        for action in machine.handle(input) {
            switch action {
            case .open(let id, let request): open[id] = request
            case .close(let id): #expect(open.removeValue(forKey: id) != nil, "closed twice, or never opened")
            case .startTimer(let id, let delay): timers[id] = delay
            case .cancelTimer(let id): timers[id] = nil
            case .emit(.success(let service)): outcomes.append("\(service.port) \(service.addresses)")
            case .emit(.failure(let error)): outcomes.append("\(error.code) \(error.message)")
            case .updateTXT, .log: break
            }
        }
    }

    mutating func take(_ step: ResolveMachineTests.Step) {
        switch step {
        case .located: tell(.reply(.resolved(interface: 1, host: "rover.local.", port: 7000, txt: [0])), resolution)
        case .ipv4: tell(.reply(.record(isAdded: true, interface: 1, data: [10, 0, 0, 1])), query(.ipv4))
        case .removed: tell(.reply(.record(isAdded: false, interface: 1, data: [10, 0, 0, 1])), query(.ipv4))
        case .ipv6:
            let address: [UInt8] = [0xFD] + Array(repeating: 0, count: 14) + [1]
            tell(.reply(.record(isAdded: true, interface: 1, data: address)), query(.ipv6))
        case .silence: tell(.failed(DNSServiceError(rawValue: -65537)), resolution)
        case .refusal: tell(.openingFailed(DNSServiceError(rawValue: -65553)), resolution)
        case .lookupFailure: tell(.failed(DNSServiceError(rawValue: -65537)), query(.ipv4))
        case .stop: handle(.stop)
        case .timer(let delay):
            guard let id = timers.first(where: { $0.value == delay })?.key else {
                Issue.record("no timer of \(delay) among \(timers.values)")
                return
            }
            timers[id] = nil
            handle(.timer(id))
        }
    }

    private mutating func tell(_ event: ReferenceEvent, _ id: ReferenceID?) {
        guard let id else {
            Issue.record("nothing is open that could be answered")
            return
        }
        handle(.reference(id, event))
    }

    private var resolution: ReferenceID? {
        open.first { if case .resolve = $0.value { true } else { false } }?.key
    }

    private func query(_ family: NetworkAddress.Family) -> ReferenceID? {
        open.first { if case .addresses(_, family) = $0.value { true } else { false } }?.key
    }
}
