import ElementalSecurity
import TestSupport
import Testing
import Zeroconf

@testable import Elemental

/// The policies, and what a device makes of sightings, without sockets.
struct ReconnectionPolicyTests {
    private static let loss = DisconnectReason(.closedByPeer, isExpected: false)

    private func delays(_ policy: any ReconnectionPolicy, _ numbers: ClosedRange<Int>) -> [Duration?] {
        numbers.map {
            policy.delay(
                before: ReconnectionAttempt(number: $0, elapsed: .zero, reason: Self.loss, lastError: nil))
        }
    }

    @Test
    func theStandardTriesFourTimes() {
        #expect(delays(.standard, 1...5) == [.zero, .seconds(2), .seconds(10), .seconds(30), nil])
    }

    @Test
    func forEverIsForEver() {
        #expect(delays(.forever(every: .seconds(3)), 1...3) == [.zero, .seconds(3), .seconds(3)])
        #expect(delays(.forever(every: .seconds(3)), 1_000_000...1_000_000) == [.seconds(3)])
    }

    @Test
    func exponentialDelaysGrowToTheirMaximum() {
        let policy = ExponentialDelays(first: .seconds(1), factor: 2, maximum: .seconds(10), jitter: 0)
        #expect(
            delays(policy, 1...6) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(10), .seconds(10)])
        #expect(delays(policy, 100_000...100_000) == [.seconds(10)])
        let wild = ExponentialDelays(first: .seconds(-1), factor: .nan, maximum: .seconds(1), jitter: 7)
        #expect(delays(wild, 1...2) == [.zero, .zero])
        let narrow = ExponentialDelays(first: .seconds(9), factor: 3, maximum: .seconds(4), jitter: -1)
        #expect(delays(narrow, 1...2) == [.seconds(4), .seconds(4)])
    }

    private let start = ContinuousClock.now

    // MARK: Sightings

    private func service(
        _ port: Int, _ addresses: [UInt8], name: String = "Rover", key: Fingerprint? = nil
    ) throws -> DiscoveredService {
        DiscoveredService(
            ResolvedService(
                instance: ServiceInstance(name: name, type: try .tcp("robot")), host: "rover.local.", port: port,
                txt: TXTRecord(key.map { [(ServiceTXT.version, "1"), ("sec", "2"), ("id", $0.short)] } ?? []),
                addresses: try addresses.map {
                    try #require(NetworkAddress(bytes: [192, 168, 1, $0], interfaceIndex: 1))
                }))
    }

    private func sightings(_ service: DiscoveredService) -> ServiceSightings {
        ServiceSightings("Rover", known: service.endpoint, at: start)
    }

    @Test
    func aCachedRecordIsNoReturn() throws {
        let rover = try service(5000, [7, 8])
        var seen = sightings(rover)
        #expect(seen.take(.found(rover), at: start)?.isReturn == false)
        #expect(seen.take(.updated(rover), at: start + .seconds(9))?.isReturn == false)
        #expect(seen.take(.updated(try service(5000, [8])), at: start + .seconds(9))?.isReturn == false)
    }

    @Test
    func aServiceThatWasGoneReturns() throws {
        let rover = try service(5000, [7])
        var seen = sightings(rover)
        #expect(seen.take(.found(rover), at: start) != nil)
        #expect(seen.take(.gone(service: "robot", name: "Rover"), at: start) == nil)
        let back = seen.take(.found(rover), at: start)
        #expect(back?.isReturn == true)
        #expect(back?.hasMoved == false)
        #expect(seen.take(.updated(rover), at: start)?.isReturn == false)
    }

    @Test
    func aServiceFoundAfterTheCacheTimeHasReturned() throws {
        let rover = try service(5000, [7])
        var seen = sightings(rover)
        #expect(seen.take(.found(rover), at: start + .seconds(2))?.isReturn == true)
    }

    @Test
    func anotherPortOrAddressIsAReturn() throws {
        var seen = sightings(try service(5000, [7]))
        let port = seen.take(.found(try service(5001, [7])), at: start)
        #expect(port?.isReturn == true && port?.hasMoved == true)
        let address = seen.take(.updated(try service(5001, [7, 9])), at: start)
        #expect(address?.isReturn == true && address?.hasMoved == true)
        #expect(seen.take(.updated(try service(5001, [7, 9])), at: start)?.isReturn == false)
    }

    /// An impostor that is listed while the true service is being connected to does not cost it its turn.
    @Test
    func anAttemptThatIsGivenUpIsMadeAgain() throws {
        let key = Fingerprint(publicKey: [1])
        let renamed = try service(5001, [7], name: "Rover #2", key: key)
        var seen = ServiceSightings("Rover", key.short, known: try service(5000, [7]).endpoint, at: start)
        #expect(seen.take(.found(renamed), at: start)?.hasMoved == true)
        let first = seen.next()
        #expect(seen.take(.found(try service(5002, [9])), at: start)?.hasMoved == true)
        let second = seen.next()
        let isThirdUntried = seen.noteFailure()
        let third = seen.next()
        let isFourthUntried = seen.noteFailure()
        #expect([first, second, third].map { $0?.name } == ["Rover #2", "Rover", "Rover #2"])
        #expect(isThirdUntried && !isFourthUntried)
    }

    @Test
    func otherInstancesDoNotMatter() throws {
        var seen = sightings(try service(5000, [7]))
        #expect(seen.take(.found(try service(5001, [7], name: "Spirit")), at: start) == nil)
        #expect(seen.take(.gone(service: "robot", name: "Spirit"), at: start) == nil)
        #expect(seen.take(.found(try service(5000, [7])), at: start)?.isReturn == false)
    }
}
