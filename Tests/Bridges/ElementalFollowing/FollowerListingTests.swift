import Elemental
import ElementalFollowing
import ElementalSecurity
import Foundation
import Support
import TestSupport
import Testing

/// Services that Zeroconf finds (`Samples/private-avahi -- swift test`).
@Suite(.backstop)
struct FollowerListingTests {
    init() throws {
        try #require(
            ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"] != nil,
            "no private Zeroconf daemon: run these tests with Tests/run, or through Samples/private-avahi")
    }

    private static func publish(
        _ type: String, _ name: String, port: Int? = nil, txt: [String: String] = [:], security: ServiceSecurity = .open
    ) async throws -> ElementalService {
        var configuration = ServiceConfiguration()
        configuration.limits.handshakeTimeout = Patience.wait * 9
        configuration.port = try port.map(PortLease.again) ?? PortLease.port()
        configuration.txt = txt
        configuration.security = security
        let service = ElementalService(type, displayName: name, elements: Rover.all, configuration: configuration)
        try await service.start()
        return service
    }

    @Test
    func servicesComeAndGo() async throws {
        let (robot, lamp) = (
            ServiceKey(service: "sess_robot", name: "Rover"), ServiceKey(service: "sess_lamp", name: "Rover")
        )
        let first = try await Self.publish("sess_robot", "Rover")
        try await withFollower([.all]) { sessions, log in
            try await log.wait(for: "connected", of: robot)
            let second = try await Self.publish("sess_lamp", "Rover")
            try await log.wait(for: "connected", of: lamp)
            #expect(sessions.device(of: robot) != sessions.device(of: lamp))
            guard case .found(let found)? = sessions.place(of: lamp) else { throw TestSupportError("no place") }
            #expect(found.port == second.port)
            await second.stop()
            try await log.wait(for: "gone", of: lamp)
            #expect(sessions.device(of: lamp) == nil)
            // It is the last of that key.
            guard case .state(_, .gone)? = log.events.last(where: { $0.key == lamp }) else {
                throw TestSupportError("something was told after it was gone")
            }
            #expect(log.states(of: robot) == ["connecting", "connected"])
            let third = try await Self.publish("sess_lamp", "Rover")
            try await log.wait(for: "connected", of: lamp, 2)
            #expect(sessions.device(of: lamp)?.address?.port == third.port)
            await third.stop()
        }
        await first.stop()
    }

    @Test
    func aNameIsFoundByItsOwnBrowserAndOnlyItsInstance() async throws {
        let wanted = try await Self.publish("sess_named", "Wanted")
        let other = try await Self.publish("sess_named", "Other")
        try await withFollower([.service("sess_named", name: "Wanted")]) {
            $0.keepsGone = true
        } _: { sessions, log in
            let key = ServiceKey(service: "sess_named", name: "Wanted")
            try await log.wait(for: "connected", of: key)
            #expect(log.keys == [key])
            let device = try #require(sessions.device(of: key))
            // It returns at another port, and is the same one: it was to be kept.
            await wanted.stop()
            try await log.wait(for: "away", of: key)
            let again = try await Self.publish("sess_named", "Wanted")
            try await log.wait(for: "connected", of: key, 2)
            #expect(sessions.device(of: key) == device && device.address?.port == again.port)
            #expect(!log.states(of: key).contains("gone"))
            await again.stop()
        }
        await other.stop()
    }

    @Test
    func whatIsTooMuchTakesThePlaceOfWhatGoes() async throws {
        let first = try await Self.publish("sess_many", "One")
        let one = ServiceKey(service: "sess_many", name: "One")
        let two = ServiceKey(service: "sess_many", name: "Two")
        try await withFollower([.service("sess_many", name: nil)]) {
            $0.maximumServiceCount = 1
        } _: { _, log in
            try await log.wait(for: "connected", of: one)
            let second = try await Self.publish("sess_many", "Two")
            try await eventually { log.excesses.last == 1 }
            #expect(log.keys == [one])
            await first.stop()
            try await log.wait(for: "connected", of: two)
            try await eventually { log.excesses.last == 0 }
            #expect(log.states(of: one).last == "gone")
            await second.stop()
        }
    }

    @Test
    func aChangedRecordIsAReasonToTryAgain() async throws {
        let (identity, store) = (Ed25519Identity(), InMemoryTrustStore())
        let service = try await Self.publish(
            "sess_record", "Rover", security: .paired(identity: identity, store: store))
        let key = ServiceKey(service: "sess_record", name: "Rover")
        let (client, clientStore) = (Ed25519Identity(), InMemoryTrustStore())
        try await withFollower([.service("sess_record", name: nil)]) {
            $0.connect.security = .automatic(identity: client, store: clientStore)
            // A change of the store would be another reason.
            $0.trustInterval = .seconds(3600)
        } _: { _, log in
            try await log.wait(for: "notPaired", of: key)
            try store.update { peers in
                try peers.pin(
                    TrustedClient(
                        fingerprint: client.fingerprint, name: "tester", role: .control, services: ["sess_record"]),
                    own: identity.fingerprint)
            }
            try clientStore.update { peers in
                peers.services = [
                    TrustedService(
                        fingerprint: identity.fingerprint, service: "sess_record", instance: "Rover", role: .control)
                ]
            }
            try service.update(txt: ["changed": "yes"])
            try await log.wait(for: "connected", of: key)
            let places = log.events.compactMap { event in
                if case .place(key, .found(let service)) = event { service.txt } else { nil }
            }
            #expect(places.last == ["changed": "yes"])
        }
        await service.stop()
    }

    /// Somebody else publishes the name that is paired, so that Zeroconf renames the service.
    @Test(arguments: [("sess_taken", false), ("sess_liar", true)])
    func aServiceWhoseNameIsTakenIsFoundByItsPinnedKey(_ type: String, _ claimsItsKey: Bool) async throws {
        let (identity, other, client) = (Ed25519Identity(), Ed25519Identity(), Ed25519Identity())
        let (store, clientStore) = (InMemoryTrustStore(), InMemoryTrustStore())
        try store.update { peers in
            try peers.pin(
                TrustedClient(fingerprint: client.fingerprint, name: "tester", role: .control, services: [type]),
                own: identity.fingerprint)
        }
        try clientStore.update { peers in
            peers.services = [
                TrustedService(fingerprint: identity.fingerprint, service: type, instance: "Rover", role: .control)
            ]
        }
        let impostor = try await startService(
            security: .paired(identity: other, store: InMemoryTrustStore()), type: type)
        let port = try #require(impostor.port)
        let claimed = (claimsItsKey ? identity : other).fingerprint.short
        let entries = ["elemental=1", "sec=2", "id=\(claimed)"]
        try await ChildProcess.with("avahi-publish", ["-s", "Rover", "_\(type)._tcp", "\(port)"] + entries) { _ in
            let key = ServiceKey(service: type, name: "Rover")
            try await withFollower([.service(type, name: "Rover")]) {
                $0.connect.security = .automatic(identity: client, store: clientStore)
            } _: { sessions, log in
                try await log.wait(for: "identityChanged", of: key)
                let service = try await Self.publish(type, "Rover", security: .paired(identity: identity, store: store))
                try await log.wait(for: "connected", of: key)
                #expect(sessions.device(of: key)?.fingerprint == identity.fingerprint)
                #expect(log.keys == [key])
                await service.stop()
            }
        }
        await impostor.stop()
    }
}
