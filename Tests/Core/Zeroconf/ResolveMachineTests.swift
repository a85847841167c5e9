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
            ([.silence, .timer(retry), .silence, .timer(timeout)], "was not resolved within"),
            ([.timer(timeout)], "was not resolved within"),
            ([.located, .timer(timeout)], "no address of"),
            // What follows a location changes nothing of it.
            ([.located, .silence, .ipv4, .ipv6], "7000 [10.0.0.1, fd00::1]"),
            ([.refusal], "refused resolving"),
            ([.located, .lookupFailure], "daemonUnavailable looking up the addresses"),
            ([.located, .ipv4, .stop], nil), ([.stop], nil),
        ] as [([Step], String?)])
    func aServiceIsResolvedOnce(_ steps: [Step], _ outcome: String?) throws {
        let bench = try ResolveBench(wantsAddresses: true)
        for step in steps { bench.take(step) }
        #expect(bench.events.count == (outcome == nil ? 0 : 1))
        if let outcome { #expect(bench.events.first?.contains(outcome) == true, "\(bench.events)") }
        // Whatever came of it, nothing is left, and nothing more happens.
        if outcome != nil || steps.contains(where: { if case .stop = $0 { true } else { false } }) {
            #expect(bench.open.isEmpty && bench.timers.isEmpty)
            bench.handle(.start)
            #expect(bench.open.isEmpty && bench.timers.isEmpty)
        }
    }

    @Test func withoutAddressesTheLocationIsEnough() throws {
        let bench = try ResolveBench(wantsAddresses: false)
        bench.take(.located)
        #expect(bench.events == ["7000 []"])
        #expect(bench.open.isEmpty && bench.timers.isEmpty)
    }
}

private final class ResolveBench: MachineBench<ResolveMachine> {
    init(wantsAddresses: Bool) throws {
        let rover = ServiceInstance(name: "Rover", type: try .tcp("robot"))
        super.init(ResolveMachine(rover, timeout: .seconds(10), wantsAddresses: wantsAddresses)) { result in
            switch result {
            case .success(let service): "\(service.port) \(service.addresses)"
            case .failure(let error): "\(error.code) \(error.message)"
            }
        }
        handle(.start)
    }

    func take(_ step: ResolveMachineTests.Step) {
        let ipv4: [UInt8] = [10, 0, 0, 1]
        let ipv6: [UInt8] = [0xFD] + Array(repeating: 0, count: 14) + [1]
        switch step {
        case .located: resolution(.reply(.resolved(interface: 1, host: "rover.local.", port: 7000, txt: [0])))
        case .ipv4: query(.ipv4, .reply(.record(isAdded: true, interface: 1, data: ipv4)))
        case .removed: query(.ipv4, .reply(.record(isAdded: false, interface: 1, data: ipv4)))
        case .ipv6: query(.ipv6, .reply(.record(isAdded: true, interface: 1, data: ipv6)))
        case .silence: resolution(.failed(.daemonHasGone))
        case .refusal: resolution(.openingFailed(DNSServiceError(rawValue: -65553)))
        case .lookupFailure: query(.ipv4, .failed(.daemonHasGone))
        case .stop: handle(.stop)
        case .timer(let delay): runTimer(after: delay)
        }
    }

    private func resolution(_ event: ReferenceEvent) { tell(event) { $0.resolvedName != nil } }

    private func query(_ family: NetworkAddress.Family, _ event: ReferenceEvent) {
        tell(event) { $0.asks(for: family, of: "rover.local.") }
    }
}
