import ElementalWire
import Testing

@testable import ElementalSecurity

/// What a client asks of the peers it trusts: which key a target must have.
struct TrustedServicesTests {
    private static let own = Fingerprint.sample(0)
    private static let rover = TrustedService.sample(
        1, instance: "Rover", hosts: [.init("rover.local", port: 5000), .init("192.168.1.7", port: 5000)])
    private static let lamp = TrustedService.sample(
        2, service: "lamp", instance: "Desk", hosts: [.init("fe80::2%eth0", port: 6000)])
    private static let peers = TrustedPeers(clients: [.sample(8)], services: [rover, lamp])

    private func found(
        _ service: String, _ instance: String, at host: String = "192.168.1.99", port: UInt16 = 4000, id: Int? = nil
    ) -> ConnectionTarget {
        ConnectionTarget(
            service: service, instance: instance, hosts: [host], port: port,
            advertisedIdentity: id.map { Fingerprint.sample($0).short })
    }

    private func given(_ host: String, _ port: UInt16, service: String? = nil) -> ConnectionTarget {
        ConnectionTarget(service: service, hosts: [host], port: port)
    }

    private func match(_ target: ConnectionTarget) -> PinMatch { Self.peers.match(target, own: Self.own) }

    private func verdict(_ key: Int, _ target: ConnectionTarget) -> PinVerdict {
        Self.peers.verdict(on: .sample(key), of: target, own: Self.own)
    }

    // MARK: Named services

    /// Whatever the TXT record, the host and the port say.
    @Test
    func aPinnedNameHasOneKey() {
        let targets = [
            found("robot", "Rover"), found("robot", "Rover", at: "rover.local", port: 5000),
            found("robot", "Rover", at: "fe80::2", port: 6000), found("robot", "Rover", id: 2),
            found("robot", "Rover", id: 0), found("robot", "Rover", id: 77),
        ]
        for target in targets {
            #expect(match(target) == .pinned(Self.rover))
            #expect(match(target).requiresTLS)
            #expect(verdict(1, target) == .trusted(Self.rover))
            // Another's, another that is trusted, and this end's own.
            for key in [77, 2, 0] { #expect(verdict(key, target) == .identityChanged) }
        }
    }

    @Test
    func aNewNameIsFoundByTheTXTRecord() {
        let target = found("robot", "Rover (2)", id: 1)
        #expect(match(target) == .renamed(Self.rover))
        #expect(verdict(1, target) == .trusted(Self.rover))
        // Who claims a key that he has not, is not offered to be paired.
        for key in [77, 2, 0] { #expect(verdict(key, target) == .identityChanged) }
        // Capital letters are the same base32.
        var capitals = target
        capitals.advertisedIdentity = capitals.advertisedIdentity?.uppercased()
        #expect(match(capitals) == .renamed(Self.rover))
    }

    @Test
    func anUnknownServiceIsUpToThePolicy() {
        for id in [nil, 77] {
            let target = found("robot", "Stranger", id: id)
            #expect(match(target) == .nothing)
            #expect(!match(target).requiresTLS)
            #expect(verdict(77, target) == .notPaired)
            // A key that proves itself is known under any name.
            #expect(verdict(1, target) == .trusted(Self.rover))
            #expect(verdict(0, target) == .own)
        }
    }

    /// Pins hold for a service's name: others of its key may admit this client by it, or are not paired.
    @Test
    func anotherServiceOfAPinnedKeyIsASibling() {
        for target in [found("door", "Front", id: 1), found("door", "Front", at: "192.168.1.7", port: 5000, id: 1)] {
            #expect(match(target) == .sibling(Self.rover))
            #expect(!match(target).requiresTLS)
            #expect(verdict(1, target) == .sibling(Self.rover))
            for key in [77, 2, 0] { #expect(verdict(key, target) == .notPaired) }
        }
    }

    /// A pin binds the service that was paired, and no other of its host.
    @Test
    func otherServicesOfAPinnedHostAreNotPinned() {
        for target in [
            found("door", "Front", at: "192.168.1.7", port: 5000), found("door", "Front", at: "192.168.1.7"),
            found("robot", "Stranger", at: "192.168.1.7", port: 5001),
        ] {
            #expect(match(target) == .nothing)
        }
    }

    @Test
    func namesHaveNoCase() throws {
        #expect(match(found("ROBOT", "roveR")) == .pinned(Self.rover))
        #expect(match(found("Robot", "New", id: 1)) == .renamed(Self.rover))
        #expect(match(found("robot", "R\u{F6}ver")) == .nothing)
        var peers = Self.peers
        #expect(throws: SecurityError.self) {
            try peers.pin(TrustedService.sample(77, service: "Robot", instance: "ROVER"), own: Self.own)
        }
        try peers.pin(TrustedService.sample(1, service: "Robot", instance: "ROVER"), own: Self.own)
        #expect(peers.services.count == 2)
        let isNew = peers.noteReached(.sample(1), service: "ROBOT", instance: "rover", at: .init("10.0.0.9", port: 1))
        #expect(isNew)
        #expect(peers.services.count == 2)
        try peers.revoke("ROBOT/rover")
        #expect(peers.services == [Self.lamp])
    }

    @Test
    func theOwnServiceIsFoundByTheTXTRecord() {
        let target = found("robot", "Mine", at: "127.0.0.1", id: 0)
        #expect(match(target) == .own)
        #expect(match(target).requiresTLS)
        #expect(verdict(0, target) == .own)
        for key in [1, 77] { #expect(verdict(key, target) == .identityChanged) }
    }

    /// A pinned host is not spoken to in plain under a new name; without proof nobody says that its key changed.
    @Test
    func anUnknownNameAtAPinnedHostIsNotSpokenToInPlain() {
        let target = found("robot", "Stranger", at: "192.168.1.7", port: 5000)
        #expect(match(target) == .knownHost([Self.rover]))
        #expect(match(target).requiresTLS)
        #expect(verdict(77, target) == .notPaired)
        #expect(verdict(1, target) == .trusted(Self.rover))
        #expect(verdict(2, target) == .notPaired)
    }

    @Test
    func clientsAreNotPinned() {
        #expect(match(found("robot", "client 8", id: 8)) == .nothing)
        #expect(verdict(8, found("robot", "client 8", id: 8)) == .notPaired)
    }

    // MARK: Host and port

    @Test(arguments: [
        "rover.local", "ROVER.local", "rover.local.", "192.168.1.7", "::ffff:192.168.1.7", "[::ffff:c0a8:107]",
        "3232235783", "0xc0a80107", "192.168.263", "0300.0250.1.7",
    ])
    func aPinnedHostIsKnownHoweverItIsWritten(_ host: String) {
        #expect(match(given(host, 5000)) == .knownHost([Self.rover]))
        // Whatever the port.
        #expect(match(given(host, 80)) == .knownHost([Self.rover]))
        #expect(verdict(1, given(host, 5000)) == .trusted(Self.rover))
        #expect(verdict(77, given(host, 5000)) == .identityChanged)
        #expect(verdict(2, given(host, 5000)) == .identityChanged)
        #expect(verdict(0, given(host, 5000)) == .identityChanged)
        // Another program may be at another port.
        #expect(verdict(77, given(host, 80)) == .notPaired)
        #expect(verdict(1, given(host, 80)) == .trusted(Self.rover))
    }

    @Test(arguments: ["fe80::2", "fe80:0::0:2", "FE80::2%wlan0", "[fe80::2%eth0]"])
    func anInterfaceIsNotPartOfAnAddress(_ host: String) {
        #expect(match(given(host, 6000)) == .knownHost([Self.lamp]))
        #expect(verdict(2, given(host, 6000)) == .trusted(Self.lamp))
    }

    @Test(arguments: [
        "192.168.1.8", "rover", "rover.local.example", "fe80::3", "", "192.168.1.7 x", "[", "]", "%", ".",
    ])
    func otherHostsAreUnknown(_ host: String) {
        #expect(match(given(host, 5000)) == .nothing)
        #expect(verdict(77, given(host, 5000)) == .notPaired)
        #expect(verdict(1, given(host, 5000)) == .trusted(Self.rover))
    }

    @Test
    func allThatIsKnownOfAHostCounts() {
        let target = ConnectionTarget(hosts: ["new.local", "192.168.1.7"], port: 1)
        #expect(match(target) == .knownHost([Self.rover]))
    }

    /// The service that is wanted has to be one that is pinned with that key.
    @Test
    func aGivenHostWithAServicesNameIsThatService() {
        #expect(verdict(1, given("192.168.1.7", 5000, service: "robot")) == .trusted(Self.rover))
        #expect(verdict(1, given("192.168.1.7", 5000, service: "door")) == .notPaired)
        #expect(verdict(1, given("192.168.1.8", 5000, service: "door")) == .notPaired)
    }

    /// Of several services of one key, the port says which.
    @Test
    func thePortChoosesAmongTheServicesOfAHost() {
        let other = TrustedService.sample(
            1, service: "door", instance: "Front", hosts: [.init("192.168.1.7", port: 5001)])
        let peers = TrustedPeers(services: [Self.rover, other])
        #expect(peers.verdict(on: .sample(1), of: given("192.168.1.7", 5001), own: Self.own) == .trusted(other))
        #expect(peers.verdict(on: .sample(1), of: given("192.168.1.7", 5000), own: Self.own) == .trusted(Self.rover))
    }

    /// Every program of this machine is at these addresses.
    @Test(arguments: ["127.0.0.1", "127.0.0.2", "::1", "localhost", "rover.localhost", "::ffff:127.0.0.1"])
    func atLoopbackThePortCounts(_ host: String) {
        let local = TrustedService.sample(1, instance: "Rover", hosts: [.init(host, port: 5000)])
        let peers = TrustedPeers(services: [local])
        #expect(peers.match(given(host, 5000), own: Self.own) == .knownHost([local]))
        #expect(peers.match(given(host, 5001), own: Self.own) == .nothing)
    }

    // MARK: Pinning

    @Test
    func aPinnedNameIsNotPairedWithAnotherKey() throws {
        var peers = Self.peers
        let error = #expect(throws: SecurityError.self) {
            try peers.pin(TrustedService.sample(77, instance: "Rover"), own: Self.own)
        }
        #expect(error?.code == .alreadyPinned)
        #expect(error?.message.contains("elemental trust revoke") == true)
        #expect(peers == Self.peers)
        try peers.revoke("Rover")
        try peers.pin(TrustedService.sample(77, instance: "Rover"), own: Self.own)
        #expect(peers.match(found("robot", "Rover"), own: Self.own) == .pinned(.sample(77, instance: "Rover")))
    }

    @Test
    func theOwnKeyIsNotPaired() {
        var peers = TrustedPeers()
        let error = #expect(throws: SecurityError.self) { try peers.pin(TrustedService.sample(0), own: Self.own) }
        #expect(error?.code == .ownKey)
    }

    @Test
    func pairingAgainChangesTheRoleAndKeepsTheHosts() throws {
        var peers = Self.peers
        try peers.pin(
            .sample(1, instance: "Rover", hosts: [.init("10.0.0.1", port: 1)], role: .observe), own: Self.own)
        #expect(peers.services.count == 2)
        #expect(peers.services[0].role == .observe)
        #expect(
            peers.services[0].hosts == [
                .init("10.0.0.1", port: 1), .init("rover.local", port: 5000), .init("192.168.1.7", port: 5000),
            ])
        #expect(peers.match(given("rover.local", 1), own: Self.own) == .knownHost([peers.services[0]]))
    }

    // MARK: Where it was reached

    @Test
    func hostsAreRememberedOnce() throws {
        var peers = Self.peers
        func isNew(_ host: String, _ port: UInt16) -> Bool {
            peers.noteReached(.sample(1), service: "robot", instance: "Rover", at: .init(host, port: port))
        }
        // As it is known: nothing has to be written.
        #expect(!isNew("rover.local.", 5000))
        // A new port takes the old one's place.
        #expect(isNew("rover.local", 5001))
        #expect(!isNew("rover.local", 5001))
        #expect(peers.services[0].hosts == [.init("rover.local", port: 5001), .init("192.168.1.7", port: 5000)])
        for number in 0..<40 { #expect(isNew("10.0.0.\(number)", 1)) }
        #expect(peers.services[0].hosts.count == TrustedPeers.maximumHostCount)
        #expect(peers.services[0].hosts.first == .init("10.0.0.39", port: 1))
        try peers.validate()
    }

    /// A new name of a known key is pinned beside the old one, which stays with that key.
    @Test
    func aNewNameIsPinnedToo() throws {
        var peers = Self.peers
        func isNew(_ instance: String) -> Bool {
            peers.noteReached(.sample(1), service: "robot", instance: instance, at: .init("10.0.0.1", port: 1))
        }
        #expect(isNew("Rover (2)"))
        #expect(peers.verdict(on: .sample(77), of: found("robot", "Rover (2)"), own: Self.own) == .identityChanged)
        #expect(peers.verdict(on: .sample(77), of: found("robot", "Rover"), own: Self.own) == .identityChanged)
        // Not without end.
        #expect((0..<50).filter { isNew("\($0)") }.count == 6)
        #expect(peers.services.filter { $0.fingerprint == .sample(1) }.count == 8)
        try peers.validate()
    }

    @Test
    func nothingIsRememberedOfOtherKeys() {
        var peers = Self.peers
        func isNew(_ key: Int, _ service: String, _ instance: String) -> Bool {
            peers.noteReached(.sample(key), service: service, instance: instance, at: .init("10.0.0.1", port: 1))
        }
        #expect(!isNew(77, "robot", "Rover"))
        #expect(!isNew(77, "robot", "New"))
        #expect(!isNew(1, "door", "New"))
        #expect(!isNew(1, "robot", "a\nb"))
        #expect(peers == Self.peers)
    }

    @Test
    func aPendingPinCountsForNothing() throws {
        var peers = Self.peers
        func pin(_ key: Int, _ instance: String, isPending: Bool) throws {
            var service = TrustedService.sample(key, instance: instance, hosts: [.init("10.0.0.5", port: 7)])
            service.isPending = isPending
            try peers.pin(service, own: Self.own)
        }
        try pin(3, "Spirit", isPending: true)
        #expect(try TrustFile.peers(try TrustFile.text(peers)) == peers)
        for target in [found("robot", "Spirit"), found("robot", "New", id: 3), given("10.0.0.5", 7)] {
            #expect(peers.match(target, own: Self.own) == .nothing)
            #expect(peers.verdict(on: .sample(3), of: target, own: Self.own) == .notPaired)
        }
        // Another key may be paired under that name, and one that is paired already stays so.
        try pin(4, "Spirit", isPending: false)
        try pin(4, "Spirit", isPending: true)
        #expect(peers.match(found("robot", "spirit"), own: Self.own).requiresTLS)
        #expect(peers.services.count == 3)
        peers.withdraw(peers.services[2])
        #expect(peers.services.count == 3)
        try pin(5, "Opportunity", isPending: true)
        peers.withdraw(peers.services[3])
        #expect(peers.services.count == 3)
    }
}
