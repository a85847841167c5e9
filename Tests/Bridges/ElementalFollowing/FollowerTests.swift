import Elemental
import ElementalFollowing
import ElementalSecurity
import Support
import TestSupport
import Testing

/// Services that are followed by host and port.
@Suite(.backstop)
struct FollowerTests {
    @Test
    func valuesComeAfterTheConnectionAndInOrder() async throws {
        let service = try await startService()
        try service.send(0.25, to: Rover.speed)
        try await follow(service) { key, sessions, log in
            try await log.wait(for: "connected", of: key)
            try await eventually { log.values(of: key, Rover.speed) == [.float(0.25)] }
            #expect(log.states(of: key) == ["connecting", "connected"])
            for number in 0..<500 { try service.send(UInt32(number), to: Rover.count) }
            try await eventually { log.values(of: key, Rover.count).count == 500 }
            #expect(log.values(of: key, Rover.count) == (0..<500).map { .uint32($0) })
            guard case .place(key, .address)? = log.events.first else {
                throw TestSupportError("\(String(describing: log.events.first))")
            }
            let device = try #require(sessions.device(of: key))
            #expect(log.connections(of: key).map(\.device) == [device])
            #expect(log.connections(of: key).map(\.catalogue) == [Rover.all])
            #expect(sessions.place(of: key) == .address(host: "127.0.0.1", port: try #require(service.port)))
        }
    }

    @Test("a value of nearly half of what there is counts once: it does not count as incomplete any more")
    func aLongValueCountsOnce() async throws {
        let picture = Element<String>(1, "Picture")
        let service = try await startService([picture])
        let value = String(repeating: "x", count: 4 << 20)
        try await follow(service) {
            $0.maximumByteCount = 9 << 20
        } _: { key, _, log in
            try await log.wait(for: "connected", of: key)
            try service.send(value, to: picture)
            try await eventually { log.values(of: key, picture) == [.string(value)] }
            #expect(!log.events.contains { if case .leftOut = $0 { true } else { false } })
        }
    }

    @Test
    func aRefusalIsTold() async throws {
        let service = try await startService()
        service.onConnectionRequest { _ in .accept }
        let element = try ElementDefinition(id: 1, name: "Speed", type: .float)
        try await follow(service) {
            // It does not know the range, so that it is the service that refuses.
            $0.elements = try? ElementCatalogue([element])
        } _: { key, sessions, log in
            try await log.wait(for: "connected", of: key)
            try #require(sessions.device(of: key)).send(.float(7), to: element)
            try await eventually {
                log.events.contains { if case .refusal(key, element, _) = $0 { true } else { false } }
            }
        }
    }

    @Test
    func aLostConnectionIsRestoredWithTheSameDevice() async throws {
        let service = try await startService()
        try await follow(service) { key, sessions, log in
            try await log.wait(for: "connected", of: key)
            try #require(service.devices.first).disconnect()
            try await log.wait(for: "connected", of: key, 2)
            #expect(log.states(of: key) == ["connecting", "connected", "away", "connected"])
            #expect(Set(log.connections(of: key).map(\.device)).count == 1)
            try service.send("back", to: Rover.label)
            try await eventually { log.values(of: key, Rover.label) == [.string("back")] }
        }
    }

    @Test
    func aServiceIsFoundBackWhenItIsStartedAgainAndWhenItWasNotThereAtFirst() async throws {
        let port = try PortLease.port()
        let key = ServiceKey(host: "127.0.0.1", port: port)
        try await withFollower([.address(host: "127.0.0.1", port: port)]) { sessions, log in
            try await log.wait(for: "away", of: key)
            #expect(sessions.device(of: key) == nil)
            let first = try await startService(port: port)
            try await log.wait(for: "connected", of: key)
            await first.stop(reason: "a pause")
            try await log.wait(for: "away", of: key, 2)
            let isTold = log.events.contains { event in
                guard case .state(_, .away(let problem, _)) = event else { return false }
                return problem.code == "shutDown" && problem.message.contains("a pause")
            }
            #expect(isTold, "\(log.events)")
            let second = try await startService(port: port)
            try await log.wait(for: "connected", of: key, 2)
            #expect(log.states(of: key) == ["connecting", "away", "connected", "away", "connected"])
            await second.stop()
        }
    }

    @Test
    func anotherCatalogueMakesAnotherDevice() async throws {
        let port = try PortLease.port()
        let first = try await startService(port: port)
        let key = first.key
        try first.send(7, to: Rover.count)
        try await withFollower([first.subject]) { sessions, log in
            try await eventually { log.values(of: key, Rover.count) == [.uint32(7)] }
            await first.stop()
            let second = try await startService(Rover.newer, port: port)
            try second.send("new", to: Rover.label)
            try second.send(true, to: Rover.light)
            try await eventually { log.connections(of: key).last?.catalogue == Rover.newer }
            try await eventually { log.values(of: key, Rover.light) == [.bool(true)] }
            let connections = log.connections(of: key)
            #expect(connections.map(\.catalogue) == [Rover.all, Rover.newer])
            #expect(connections[0].device != connections[1].device)
            #expect(connections[0].device.disconnectReason != nil)
            #expect(sessions.device(of: key) == connections[1].device)
            try await eventually { second.devices.count == 1 }
            // What the old service said is not passed for the new one's.
            let last = try #require(log.events.lastIndex { if case .state = $0 { true } else { false } })
            #expect(
                log.events[last...].allSatisfy {
                    if case .value(_, let element, _, _) = $0 { Rover.newer.contains(element) } else { true }
                })
            await second.stop()
        }
    }

    @Test
    func twoServicesAtOnceAndOneOfThemFloods() async throws {
        let (flooding, quiet) = (try await startService(), try await startService())
        let (loud, soft) = (flooding.key, quiet.key)
        try await withFollower([flooding.subject, quiet.subject]) { _, log in
            try await log.wait(for: "connected", of: loud)
            try await log.wait(for: "connected", of: soft)
            let flood = Task {
                for number in 0..<100_000 {
                    try await flooding.sendWhenReady(UInt32(number), to: Rover.count)
                }
            }
            try quiet.send("heard", to: Rover.label)
            try await eventually { log.values(of: soft, Rover.label) == [.string("heard")] }
            try await flood.value
            try await eventually { log.values(of: loud, Rover.count).count == 100_000 }
            #expect(log.values(of: loud, Rover.count).elementsEqual((0..<100_000).map { .uint32($0) }))
            #expect(log.states(of: soft) == ["connecting", "connected"])
        }
        await flooding.stop()
        await quiet.stop()
    }

    private struct Weak {
        weak var sessions: Follower?
    }

    /// Follows services until one is connected, and ends it.
    private static func followBriefly(
        _ subjects: [ServiceSubject], until key: ServiceKey, _ log: FollowerLog
    ) async throws -> Weak {
        let sessions = Follower(subjects, FollowerOptions(name: "tester"))
        sessions.onEvent { log.add($0) }
        let running = Task { try await sessions.run() }
        try await log.wait(for: "connected", of: key)
        running.cancel()
        try await running.value
        #expect(sessions.device(of: key) == nil)
        await #expect(throws: ElementalError.self) { try await sessions.run() }
        return Weak(sessions: sessions)
    }

    @Test
    func theEndClosesEverythingAndLeavesNothing() async throws {
        let service = try await startService()
        let silent = try RawSocket.listen()
        let log = FollowerLog()
        // One that is connected, one that never answers, one that is away, and all that there are.
        let left = try await Self.followBriefly(
            [
                service.subject, .address(host: "127.0.0.1", port: silent.port),
                .address(host: "127.0.0.1", port: try PortLease.port()), .all,
            ], until: service.key, log)
        let count = log.events.count
        try await eventually { service.devices.isEmpty }
        #expect(log.connections(of: service.key).allSatisfy { $0.device.disconnectReason != nil })
        try await eventually("nothing holds the sessions") { left.sessions == nil }
        #expect(log.events.count == count)
        #expect(!log.states(of: service.key).contains("gone"))
        await service.stop()
    }

    @Test
    func noMoreServicesThanAreAllowed() async throws {
        let services = [try await startService(), try await startService(), try await startService()]
        try await withFollower(services.map(\.subject)) {
            $0.maximumServiceCount = 2
        } _: { _, log in
            try await log.wait(for: "connected", of: services[0].key)
            try await log.wait(for: "connected", of: services[1].key)
            try await eventually { log.excesses == [1] }
            #expect(!log.keys.contains(services[2].key))
            #expect(services[2].devices.isEmpty)
        }
        for service in services { await service.stop() }
    }

    @Test
    func theRoundTripIsMeasuredWherePingsAreAnswered() async throws {
        try await follow(try await startService()) {
            $0.pingInterval = .milliseconds(20)
        } _: { key, _, log in
            try await eventually {
                log.events.count { if case .roundTrip(key, let time) = $0 { time > .zero } else { false } } >= 3
            }
        }
    }

    @Test
    func aNameThatIsNoneIsAnError() async throws {
        let sessions = Follower([.service("not a name", name: nil)], FollowerOptions(name: "tester"))
        await #expect(throws: ElementalError.self) { try await sessions.run() }
    }

    @Test
    func keysAreInOrder() {
        let keys = [
            ServiceKey(host: "::1", port: 80), ServiceKey(service: "robot", name: "B"),
            ServiceKey(service: "lamp", name: "Z"), ServiceKey(service: "robot", name: "A"),
        ]
        #expect(keys.sorted().map(\.description) == ["lamp/Z", "robot/A", "robot/B", "[::1]:80"])
    }
}
