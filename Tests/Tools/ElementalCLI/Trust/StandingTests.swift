import ElementalSecurity
import ElementalWire
import Support
import TestSupport
import Testing
import Zeroconf

@testable import Elemental
@testable import ElementalCLI

/// How a user stands to a service, as `browse` and `describe` show it.
struct StandingTests {
    private static let own = Ed25519Identity().fingerprint
    private static let lamp = Ed25519Identity().fingerprint
    private static let other = Ed25519Identity().fingerprint

    private static func service(
        _ name: String, _ service: String = "lamp", id: Fingerprint?
    ) throws -> ResolvedService {
        var txt = ["elemental": "1"]
        if let id { txt.merge(["sec": "1", "id": id.short]) { $1 } }
        return ResolvedService(
            instance: ServiceInstance(name: name, type: try .tcp(service)), host: "pi.local.", port: 5000,
            txt: TXTRecord(txt), addresses: [])
    }

    @Test
    func whatAServiceSaysIsComparedWithWhatIsPaired() throws {
        var peers = TrustedPeers()
        try peers.pin(
            TrustedService(fingerprint: Self.lamp, service: "lamp", instance: "Lamp", role: .observe), own: Self.own)
        let cases: [(ResolvedService, ServiceStanding, String)] = [
            (try Self.service("Lamp", id: Self.lamp), .paired(.observe), "paired, observe"),
            // The same key under another name.
            (try Self.service("Bulb", id: Self.lamp), .paired(.observe), "paired, observe"),
            (try Self.service("Lamp", id: Self.other), .keyChanged, "KEY CHANGED, as announced"),
            (try Self.service("Lamp", id: nil), .keyMissing, "paired, but announced as open"),
            (try Self.service("Own", id: Self.own), .own, "this user's own"),
            (try Self.service("Bulb", id: Self.other), .none, "needs pairing to control"),
            // A service of the same machine, with the same key, which is not paired itself.
            (try Self.service("Lamp", "robot", id: Self.lamp), .none, "needs pairing to control"),
        ]
        for (resolved, standing, remark) in cases {
            let service = DiscoveredService(resolved)
            #expect(ServiceStanding(to: service, among: peers, own: Self.own) == standing)
            #expect(service.remark(standing) == remark)
        }
        #expect(DiscoveredService(try Self.service("Bulb", id: nil)).remark(.none) == nil)
    }

    private static func found(_ bed: PairingBed) async throws -> JSONLine {
        try await withCommand(["browse", "lamp", "--json", "--state", bed.state]) { browse in
            try await browse.nextEvent("found") { $0["instance"] == bed.name }
        }
    }

    private static func description(_ bed: PairingBed) async throws -> JSONLine {
        let result = try await bed.run("describe", bed.target, "--json")
        return try #require(result.output.lazy.compactMap { JSONLine($0) }.first { $0.event == "service" }, "\(result)")
    }

    @Test(.backstop)
    func browseAndDescribeShowIt() async throws {
        try await PairingBed.with(.pairedToControl, isPublished: true) { bed in
            let stranger = try await Self.found(bed)
            #expect(stranger["trust"] == "none" && stranger["role"] == String?.none)
            let plain = try await Self.description(bed)
            #expect(plain["role"] == String?.none && plain["fingerprint"] == String?.none)

            // A browser that runs already sees that the service was paired.
            try await withCommand(["browse", "lamp", "--state", bed.state]) { browse in
                try await browse.nextLine { $0.contains("lamp/\(bed.name ?? "")") && $0.contains("[needs pairing to") }
                // The window opens and closes, which is published; not if it closes at once.
                let code = try await bed.openWindow(role: .observe)
                try await browse.nextLine { $0.contains("lamp/\(bed.name ?? "")") && $0.contains("pairing now") }
                try await expectSuccess(bed.run("pair", bed.target, input: [code]))
                try await browse.nextLine { $0.contains("lamp/\(bed.name ?? "")") && $0.contains("[paired, observe]") }
            }
            let paired = try await Self.found(bed)
            #expect(paired["trust"] == "paired" && paired["role"] == "observe")
            let description = try await Self.description(bed)
            #expect(description["role"] == "observe")
            #expect(description["fingerprint"] == "\(bed.serviceState.identity.fingerprint)")
            #expect(try await bed.run("describe", bed.target).output.first?.contains("[encrypted, observe]") == true)
        }
    }

    @Test(.backstop)
    func anotherKeyUnderThatNameIsShown() async throws {
        try await PairingBed.with(isPublished: true) { bed in
            try await bed.pair()
            // As long as it is seen, its last announcements may still be under way, for which the daemon would give another
            // service of its name a new one.
            try await withCommand(["browse", "lamp", "--json"]) { browse in
                try await browse.nextEvent("found") { $0["instance"] == bed.name }
                await bed.service.stop()
                try await browse.nextEvent("gone") { $0["instance"] == bed.name }
            }
            let other = try SecurityState(directory: bed.state + "-other")
            let impostor = try await PairingBed.start(other, .paired, port: 0, name: bed.name)
            try await eventually { try await Self.found(bed)["trust"] == "keyChanged" }
            #expect(try await bed.failure("describe", bed.target).code == "identityChanged")
            await impostor.stop()
        }
    }

    /// Whoever pairs a lamp goes on reading the other services of its user, also those that have no encryption.
    @Test(.backstop, arguments: [SecurityPolicy.pairedToControl, .open])
    func otherServicesOfAPairedHostAreReadAsBefore(_ policy: SecurityPolicy) async throws {
        try await PairingBed.with(isPublished: true) { bed in
            try await bed.pair()
            let published = Locked<String?>(nil)
            let sensor = try await PairingBed.start(
                bed.serviceState, policy, port: 0, name: bed.name, service: "sensor", published: published)
            try sensor.send(true, to: PairingBed.light)
            let reading = try await bed.run("get", "SENSOR/\(published.withLock { $0 } ?? "")", "Light")
            #expect(reading.output == ["Light=true"], "\(reading)")
            await sensor.stop()
        }
    }
}
