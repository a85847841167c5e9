import ElementalWire
import Testing

@testable import ElementalSecurity

/// What a service asks of the peers it trusts.
struct TrustedClientsTests {
    private static let own = Fingerprint.sample(0)

    private func pinned(_ clients: TrustedClient...) throws -> TrustedPeers {
        var peers = TrustedPeers()
        for client in clients { try peers.pin(client, own: Self.own) }
        return peers
    }

    private func code(_ client: TrustedClient, _ peers: TrustedPeers) -> SecurityError.Code? {
        securityError { try peers.checkPinning(client, own: Self.own) }?.code
    }

    @Test
    func aGrantHoldsForTheNamedServices() throws {
        let peers = try pinned(.sample(1, role: .observe, services: ["robot", "lamp"]))
        #expect(peers.role(of: .sample(1), for: "robot") == .observe)
        #expect(peers.role(of: .sample(1), for: "lamp") == .observe)
        #expect(peers.role(of: .sample(1), for: "door") == nil)
        #expect(peers.role(of: .sample(2), for: "robot") == nil)
        #expect(peers.role(of: Self.own, for: "robot") == nil)
    }

    @Test
    func aGrantForAllServicesYieldsToOneThatNamesTheService() throws {
        let peers = try pinned(
            .sample(1, role: .control, services: .all), .sample(1, role: .observe, services: ["lamp"]))
        #expect(peers.role(of: .sample(1), for: "robot") == .control)
        #expect(peers.role(of: .sample(1), for: "lamp") == .observe)
    }

    /// What pairing again grants replaces what was granted for that service, and leaves the other services alone.
    @Test
    func pairingAgainChangesTheRoleForThatService() throws {
        var peers = try pinned(.sample(1, role: .observe, services: ["robot", "lamp"]))
        try peers.pin(TrustedClient.sample(1, role: .control, services: ["robot"]), own: Self.own)
        #expect(peers.role(of: .sample(1), for: "robot") == .control)
        #expect(peers.role(of: .sample(1), for: "lamp") == .observe)
        try peers.pin(TrustedClient.sample(1, role: .control, services: ["lamp"]), own: Self.own)
        #expect(peers.clients == [.sample(1, role: .control, services: ["lamp", "robot"])])
        try peers.pin(TrustedClient.sample(1, role: .observe, services: .all), own: Self.own)
        #expect(peers.clients == [.sample(1, role: .observe, services: .all)])
    }

    @Test
    func theLeastOfContradictingGrantsCounts() {
        let peers = TrustedPeers(clients: [.sample(1, role: .admin), .sample(1, role: .observe)])
        #expect(peers.role(of: .sample(1), for: "robot") == .observe)
    }

    @Test(arguments: ["operator", "plain", "none", "Control", ""])
    func anUnknownRoleGrantsNothing(_ name: String) {
        var client = TrustedClient.sample(1)
        client.storedRole = StoredRole(name: name)
        #expect(client.role == nil)
        #expect(TrustedPeers(clients: [client]).role(of: .sample(1), for: "robot") == nil)
        // Not even beside a role that is known, or one for all services.
        let all = TrustedClient.sample(1, role: .admin, services: .all)
        #expect(TrustedPeers(clients: [all, client]).role(of: .sample(1), for: "robot") == nil)
        #expect(TrustedPeers(clients: [client, .sample(1)]).role(of: .sample(1), for: "robot") == nil)
        #expect(TrustedPeers(clients: [.sample(1), client]).role(of: .sample(1), for: "robot") == nil)
    }

    /// A robot that this end uses may not use this end.
    @Test
    func servicesAreNoClients() {
        let peers = TrustedPeers(services: [.sample(1)])
        #expect(peers.role(of: .sample(1), for: "robot") == nil)
    }

    // MARK: Names

    @Test
    func anotherKeyCannotTakeAName() throws {
        let peers = try pinned(.sample(1, name: "phone"))
        #expect(code(.sample(2, name: "phone"), peers) == .alreadyPinned)
        #expect(code(.sample(1, name: "phone"), peers) == nil)
        var revoked = peers
        try revoked.revoke("phone")
        #expect(code(.sample(2, name: "phone"), revoked) == nil)
    }

    @Test
    func theRefusalSaysWhatToDo() throws {
        let peers = try pinned(.sample(1, name: "phone"))
        let error = #expect(throws: SecurityError.self) {
            try peers.checkPinning(TrustedClient.sample(2, name: "phone"), own: Self.own)
        }
        #expect(error?.message.contains("elemental trust revoke") == true)
    }

    @Test
    func aKnownKeyUnderANewNameHasOneName() throws {
        let peers = try pinned(
            .sample(1, name: "phone", services: ["robot"]),
            .sample(1, name: "Rob's phone", role: .observe, services: ["lamp"]))
        #expect(Set(peers.clients.map(\.name)) == ["Rob's phone"])
        #expect(peers.role(of: .sample(1), for: "robot") == .control)
        #expect(peers.role(of: .sample(1), for: "lamp") == .observe)
        try peers.validate()
    }

    @Test
    func theOwnKeyIsNotPaired() {
        #expect(
            code(TrustedClient(fingerprint: Self.own, name: "me", role: .control, services: .all), TrustedPeers())
                == .ownKey)
    }

    @Test(arguments: [
        "", String(repeating: "x", count: 65), String(repeating: "é", count: 33), "a\nb", "a\u{1B}[2J", "a\u{7F}",
        "a\u{85}", "a\u{202E}b", "a\u{2066}b", "a\u{2028}b",
    ])
    func namesThatCouldDeceiveAreRefused(_ name: String) {
        #expect(code(.sample(1, name: name), TrustedPeers()) == .invalidPeer)
        #expect(code(.sample(1, services: .named(["robot", name])), TrustedPeers()) == .invalidPeer)
        for service in [TrustedService.sample(1, service: name), .sample(1, instance: name)] {
            let error = #expect(throws: SecurityError.self) { try TrustedPeers().checkPinning(service, own: Self.own) }
            #expect(error?.code == .invalidPeer)
        }
    }

    /// Revoking takes a name or a fingerprint; in a file the asterisk stands for all services.
    @Test
    func namesThatMeanSomethingElseAreRefused() {
        #expect(code(.sample(1, name: "\(Fingerprint.sample(9))"), TrustedPeers()) == .invalidPeer)
        #expect(code(.sample(1, services: ["robot", "*"]), TrustedPeers()) == .invalidPeer)
    }

    @Test(arguments: ["x", "Rob's iPhone", "电话", "👩‍🚀", String(repeating: "x", count: 64)])
    func otherNamesAreAccepted(_ name: String) { #expect(code(.sample(1, name: name), TrustedPeers()) == nil) }

    @Test
    func onlySoManyAreTrusted() throws {
        var peers = TrustedPeers(clients: (0..<TrustedPeers.maximumCount).map { .sample($0 + 1) })
        try peers.validate()
        #expect(code(.sample(5000), peers) == .full)
        peers.clients.append(.sample(5000))
        #expect(throws: SecurityError.self) { try peers.validate() }
        #expect(code(.sample(1, services: .named(Set((0..<65).map(String.init)))), TrustedPeers()) == .invalidPeer)
        #expect(code(.sample(1, services: []), TrustedPeers()) == .invalidPeer)
    }

    // MARK: Revoking

    @Test
    func revokingListsWhoWasLetInByTheRevoked() throws {
        var peers = try pinned(
            .sample(1), .sample(2, pairedBy: .sample(1)), .sample(3, pairedBy: .sample(2)), .sample(4))
        peers.services = [.sample(1, instance: "Rover"), .sample(5, instance: "client 1")]
        let byName = try peers.revoke("client 1")
        #expect(byName.clients == [.sample(1)])
        #expect(byName.services == [.sample(5, instance: "client 1")])
        #expect(byName.letIn == [.sample(2, pairedBy: .sample(1))])
        #expect(peers.role(of: .sample(1), for: "robot") == nil)
        let byKey = peers.revoke(.sample(2))
        #expect(byKey.letIn == [.sample(3, pairedBy: .sample(2))])
        #expect(try peers.revoke("robot/Rover").services == [.sample(1, instance: "Rover")])
        #expect(try peers.revoke("\(Fingerprint.sample(4))").clients == [.sample(4)])
        #expect(peers == TrustedPeers(clients: [.sample(3, pairedBy: .sample(2))]))
    }

    /// An admin of the robot, over the network.
    @Test
    func anAdminRevokesForItsOwnServiceOnly() throws {
        let admin = Fingerprint.sample(1), own = Fingerprint.sample(9)
        var peers = try pinned(
            .sample(1, role: .admin), .sample(2, services: ["robot", "door"]),
            .sample(3, pairedBy: .sample(2)), .sample(4, services: ["door"], pairedBy: .sample(2)),
            .sample(5, services: .all))
        // The same key is also that of a service which this machine uses: it stays pinned.
        peers.services = [.sample(2, service: "lamp")]
        let revoked = try peers.revoke(client: .sample(2), of: "robot", by: admin, own: own)
        #expect(revoked.clients.map(\.name) == ["client 2"])
        #expect(revoked.letIn == [.sample(3, pairedBy: .sample(2))])
        #expect(peers.role(of: .sample(2), for: "robot") == nil)
        #expect(peers.role(of: .sample(2), for: "door") == .control)
        #expect(peers.services == [.sample(2, service: "lamp")])
        let before = peers
        #expect(try peers.revoke(client: .sample(4), of: "robot", by: admin, own: own).clients.isEmpty)
        let error = #expect(throws: SecurityError.self) {
            try peers.revoke(client: .sample(5), of: "robot", by: admin, own: own)
        }
        #expect(error?.message.contains("elemental trust revoke") == true)
        #expect(peers == before)
        // Who administers all of this machine's services, or is this machine's user, removes the client as a whole.
        peers.clients.removeAll { $0.fingerprint == admin }
        peers.clients.append(.sample(1, role: .admin, services: .all))
        for end in [admin, own] {
            var peers = peers
            #expect(try peers.revoke(client: .sample(2), of: "robot", by: end, own: own).letIn.count == 2)
            #expect(peers.role(of: .sample(2), for: "door") == nil)
            #expect(peers.services == before.services)
            try peers.revoke(client: .sample(5), of: "robot", by: end, own: own)
            #expect(!peers.clients.contains { $0.fingerprint == .sample(5) })
        }
    }

    /// A short fingerprint is for display.
    @Test
    func revokingNobodyIsAnError() throws {
        var peers = try pinned(.sample(1))
        for text in ["", "client", "client 2", Fingerprint.sample(1).short, "\(Fingerprint.sample(2))"] {
            let error = #expect(throws: SecurityError.self) { try peers.revoke(text) }
            #expect(error?.code == .unknownPeer)
        }
        #expect(peers.clients.count == 1)
    }

    @Test
    func namesOfServicesHaveNoCase() throws {
        var peers = TrustedPeers(clients: [.sample(1, role: .admin, services: ["Robot", "robot", "\u{D6}l"])])
        #expect(peers.role(of: .sample(1), for: "ROBOT") == .admin)
        #expect(peers.role(of: .sample(1), for: "\u{F6}l") == nil)
        try peers.pin(.sample(1, role: .control, services: ["roBOT"]), own: .sample(0))
        #expect(peers.role(of: .sample(1), for: "robot") == .control)
        try peers.revoke(client: .sample(1), of: "RoboT", by: .sample(2), own: .sample(0))
        #expect(peers.role(of: .sample(1), for: "robot") == nil)
        #expect(peers.role(of: .sample(1), for: "\u{D6}l") == .admin)
    }
}
