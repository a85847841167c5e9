import Elemental
import Foundation
import TestSupport
import Testing

/// Publishing and browsing through the Zeroconf daemon that the run was given (`Samples/private-avahi -- swift test`).
@Suite(.serialized, .backstop)
struct DiscoveryTests {
    init() throws {
        try #require(
            ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"] != nil,
            "no private Zeroconf daemon: run these tests with Tests/run, or through Samples/private-avahi")
    }

    private func withPublished(
        _ service: String, _ name: String, txt: [String: String] = [:],
        _ body: (ElementalService, String) async throws -> Void
    ) async throws {
        var configuration = ServiceConfiguration()
        configuration.txt = txt
        let service = ElementalService(service, displayName: name, elements: Lamp.all, configuration: configuration)
        let events = service.events()
        try await service.start()
        try await service.stop(after: { try await body(service, try await Self.publishedName(events)) })
    }

    private static func publishedName(_ events: AsyncStream<ServiceEvent>) async throws -> String {
        for await event in events {
            switch event {
            case .published(let name): return name
            case .failedToPublish(let error, _): throw error
            default: continue
            }
        }
        throw RawSocket.Failure(text: "the events ended before the service was published")
    }

    @Test
    func publishedHereFoundAndControlledHere() async throws {
        try await withPublished("test_lamp", "Desk lamp", txt: ["model": "L1"]) { service, name in
            #expect(name == "Desk lamp")
            let found = try await ElementalBrowser("test_lamp").firstService(named: "Desk lamp", timeout: Patience.wait)
            #expect(found.port == service.port)
            #expect(found.txt == ["model": "L1"])
            #expect(found.saysHello)
            #expect(!found.addresses.isEmpty)
            let values = Transcript<Float>()
            service.onValue(of: Lamp.brightness) { value, _ in values.add(value) }
            let device = try await found.connect(as: "tester", elements: Lamp.all, options: .patient)
            #expect(device.name == "Desk lamp")
            #expect(device.service == "test_lamp")
            try device.send(0.5, to: Lamp.brightness)
            try await values.wait(for: 1)
            #expect(device.catalogue == Lamp.all)
            await device.close()
        }
    }

    @Test("one browser finds all element services, and distinguishes two with the same name")
    func allServices() async throws {
        try await withPublished("test_one", "Same name") { _, _ in
            try await withPublished("test_two", "Same name") { _, _ in
                var missing: Set = ["test_one/Same name", "test_two/Same name"]
                for await event in try ElementalBrowser().events() {
                    guard case .found(let found) = event else { continue }
                    missing.remove("\(found.service)/\(found.name)")
                    if missing.isEmpty { break }
                }
                #expect(missing.isEmpty)
            }
        }
    }

    @Test
    func whatBrowsersShowCanBeChanged() async throws {
        try await withPublished("test_txt", "Changing", txt: ["state": "off"]) { service, _ in
            var seen: [[String: String]] = []
            for await event in try ElementalBrowser("test_txt").events() {
                switch event {
                case .found(let found):
                    seen.append(found.txt)
                    try service.update(txt: ["state": "on"])
                case .updated(let found): seen.append(found.txt)
                default: continue
                }
                if seen.last == ["state": "on"] { break }
            }
            #expect(seen.first == ["state": "off"])
            let long = String(repeating: "x", count: 300)
            #expect(throws: ElementalError.self) { try service.update(txt: ["state": long]) }
        }
    }

    @Test
    func aNameThatIsTakenIsChanged() async throws {
        try await withPublished("test_clash", "Twin") { _, first in
            try await withPublished("test_clash", "Twin") { _, second in
                #expect(first == "Twin")
                #expect(second == "Twin (2)")
                let found = try await ElementalBrowser("test_clash").firstService(
                    named: "Twin (2)", timeout: Patience.wait)
                #expect(found.name == "Twin (2)")
            }
        }
    }

    @Test
    func aServiceThatStopsIsGone() async throws {
        let found = Transcript<String>()
        let gone = Transcript<String>()
        let events = try ElementalBrowser("test_gone").events()
        let watching = Task {
            for await event in events {
                switch event {
                case .found(let service): found.add(service.name)
                case .gone(_, let name): gone.add(name)
                default: break
                }
            }
        }
        try await withPublished("test_gone", "Brief") { _, _ in try await found.wait(for: 1) }
        try await gone.wait(for: 1)
        #expect(found.all == ["Brief"])
        #expect(gone.all == ["Brief"])
        watching.cancel()
    }

    @Test
    func aMissingServiceIsAnError() async throws {
        let error = await #expect(throws: ElementalError.self) {
            try await ElementalBrowser("test_none").firstService(named: "Rover", timeout: .milliseconds(100))
        }
        #expect(error?.code == .serviceNotFound)
    }

    @Test
    func anInvalidServiceNameIsAnError() async throws {
        #expect(throws: ElementalError.self) { _ = try ElementalBrowser("no spaces please").events() }
        let service = ElementalService("no spaces", elements: Lamp.all)
        #expect(await errorCode { try await service.start() } == .invalidValue)
    }

    @Test
    func runServesUntilCancelled() async throws {
        let service = ElementalService("test_run", displayName: "Runner", elements: Lamp.all)
        let events = service.events()
        let running = Task { try await service.run() }
        _ = try await Self.publishedName(events)
        let device = try await ElementalBrowser("test_run").firstService(timeout: Patience.wait)
            .connect(as: "tester", elements: Lamp.all, options: .patient)
        running.cancel()
        try await running.value
        #expect(try await device.waitUntilDisconnected().kind == .shutDown("the service has ended"))
        #expect(service.port == nil)
    }
}
