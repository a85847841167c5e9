import Elemental
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalObservation

/// Lists of services that Zeroconf finds (`Samples/private-avahi -- swift test`).
@MainActor
@Suite(.backstop)
struct BrowserTests {
    init() throws {
        try #require(
            ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"] != nil,
            "no private Zeroconf daemon: run these tests with Tests/run, or through Samples/private-avahi")
    }

    private static func publish(
        _ type: String, _ name: String, txt: [String: String] = [:], security: ServiceSecurity = .open
    ) async throws -> ElementalService {
        var configuration = ServiceConfiguration()
        configuration.limits.handshakeTimeout = Patience.wait * 9
        configuration.txt = txt
        configuration.security = security
        let service = ElementalService(type, displayName: name, elements: Lamp.all, configuration: configuration)
        try await service.start()
        return service
    }

    @Test
    func servicesComeAndGoSorted() async throws {
        let browser = ObservedBrowser("obs_lamp")
        let watch = Watch { _ = browser.services }
        #expect(browser.services.isEmpty && browser.failure == nil)
        let names = ["lamp 10", "Lamp 2", "Desk"]
        var services: [ElementalService] = []
        for name in names { services.append(try await Self.publish("obs_lamp", name, txt: ["room": name])) }
        try await eventually { browser.services.map(\.name) == ["Desk", "Lamp 2", "lamp 10"] }
        #expect(browser.services.allSatisfy { $0.state == .open && $0.txt["room"] == $0.name })
        // One at a time at most.
        #expect((1...3).contains(watch.count))
        let id = browser.services[0].id
        // The text of one changes, and it stays the same one.
        try services[2].update(txt: ["room": "attic"])
        try await eventually { browser.services[0].txt["room"] == "attic" }
        #expect(browser.services[0].id == id)
        await services[1].stop()
        try await eventually { browser.services.map(\.name) == ["Desk", "lamp 10"] }

        // A model of one that was found.
        let model = ObservedDevice(browser.services[0].discovered, as: "Test", elements: Lamp.all, options: .patient)
        #expect(model.name == "Desk")
        try services[2].send(0.5, to: Lamp.brightness)
        try await eventually { model[Lamp.brightness] == 0.5 }
        for service in services { await service.stop() }
        try await eventually { browser.services.isEmpty }
    }

    @Test
    func theListSaysWhatIsPaired() async throws {
        let (own, lamp, other) = (Ed25519Identity(), Ed25519Identity(), Ed25519Identity())
        let store = InMemoryTrustStore()
        func pin(_ name: String, _ identity: Ed25519Identity) throws {
            try store.update {
                try $0.pin(
                    TrustedService(
                        fingerprint: identity.fingerprint, service: "obs_trust", instance: name, role: .control),
                    own: own.fingerprint)
            }
        }
        try pin("Paired", lamp)
        try pin("Changed", lamp)
        try pin("Opened", lamp)
        var services: [ElementalService] = []
        func publish(_ name: String, _ security: ServiceSecurity) async throws {
            services.append(try await Self.publish("obs_trust", name, security: security))
        }
        try await publish("Paired", .paired(identity: lamp, store: InMemoryTrustStore()))
        try await publish("Changed", .paired(identity: other, store: InMemoryTrustStore()))
        try await publish("Opened", .open)
        try await publish("Open", .open)
        try await publish("Own", .paired(identity: own, store: InMemoryTrustStore()))
        try await publish("New", .paired(identity: other, store: InMemoryTrustStore()))
        try await publish("Readable", .pairedToControl(identity: other, store: InMemoryTrustStore()))

        let browser = ObservedBrowser("obs_trust", security: .automatic(identity: own, store: store))
        func states() -> [String: ObservedService.State] {
            Dictionary(browser.services.map { ($0.name, $0.state) }) { $1 }
        }
        let expected: [String: ObservedService.State] = [
            "Paired": .paired(.control), "Changed": .keyChanged, "Opened": .keyMissing, "Open": .open, "Own": .own,
            "New": .needsPairing, "Readable": .needsPairingToControl,
        ]
        try await eventually("\(states())") { states() == expected }
        // Without an identity nothing is paired.
        let stranger = ObservedBrowser("obs_trust")
        try await eventually { stranger.services.count == 7 }
        #expect(stranger.services.first { $0.name == "Paired" }?.state == .needsPairing)
        // It is paired meanwhile, by whatever program.
        try pin("New", other)
        try await eventually { states()["New"] == .paired(.control) }
        for service in services { await service.stop() }
    }

    @Test
    func aNameThatIsNoneIsAFailure() async throws {
        let browser = ObservedBrowser("not a service's name")
        #expect(browser.services.isEmpty)
        try await eventually { browser.failure?.code == .invalidValue }
    }
}
