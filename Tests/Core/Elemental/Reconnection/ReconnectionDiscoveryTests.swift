import Foundation
import TestSupport
import Testing

@testable import Elemental

/// Services that are found again by Zeroconf (`Samples/private-avahi -- swift test`). No test here waits for a delay of
/// the policy: that is an hour.
@Suite(.serialized, .backstop)
struct ReconnectionDiscoveryTests {
    init() throws {
        try #require(
            ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"] != nil,
            "no private Zeroconf daemon: run these tests with Tests/run, or through Samples/private-avahi")
    }

    private static func start(_ type: String, port: Int? = nil) async throws -> ElementalService {
        var configuration = ServiceConfiguration()
        configuration.port = try port.map(PortLease.again) ?? PortLease.port()
        let service = ElementalService(type, displayName: "Rover", elements: Lamp.all, configuration: configuration)
        try await service.start()
        return service
    }

    private static func connect(_ type: String, _ delays: [Duration]) async throws -> ElementalDevice {
        var options = ConnectOptions.patient
        options.reconnection = ListedDelays(delays)
        return try await ElementalBrowser(type).firstService(named: "Rover", timeout: Patience.wait)
            .connect(as: "tester", elements: Lamp.all, options: options)
    }

    @Test
    func aServiceAtAnotherPortIsFoundAgain() async throws {
        let first = try await Self.start("test_moves")
        let device = try await Self.connect("test_moves", [.seconds(3600)])
        let labels = Transcript<String>()
        device.onValue(of: Lamp.label) { labels.add($0) }
        let port = try #require(first.port)
        // The port is still in use when the service is started again.
        let holder = try await Self.holdingPort(first)
        let second = try await Self.start("test_moves")
        #expect(second.port != port)
        try second.send("here", to: Lamp.label)
        try await labels.wait(for: 1)
        #expect(device.address?.port == second.port)
        try device.send(0.5, to: Lamp.brightness)
        try await eventually { device.isConnected }
        // The address is known from now on.
        await device.close()
        try await device.reconnect()
        #expect(device.address?.port == second.port)
        await device.close()
        await second.stop()
        await holder.stop()
    }

    /// Stops a service and gives its port to another one.
    private static func holdingPort(_ service: ElementalService) async throws -> ElementalService {
        var configuration = ServiceConfiguration()
        let port = try #require(service.port)
        await service.stop()
        configuration.port = PortLease.again(port)
        configuration.isPublished = false
        let holder = ElementalService("other", elements: [], configuration: configuration)
        holder.onConnectionRequest { _ in .refuse("another service is here") }
        try await holder.start()
        return holder
    }

    @Test
    func aKilledServiceIsFoundAgainAtItsNewPort() async throws {
        let path = try BuiltProduct.path(of: "elemental")
        let publish = [
            "publish", "test_killed", "--name", "Rover", "--stay", "--json", "--element", "3:Label:string=x",
        ]
        let label = Transcript<String>()
        let gone = Transcript<String>()
        let browsing = Task { [events = try ElementalBrowser("test_killed").events()] in
            for await case .gone(_, let name) in events { gone.add(name) }
        }
        defer { browsing.cancel() }
        let device = try await ChildProcess.with(path, publish) { child in
            try await child.nextEvent("published")
            let device = try await Self.connect("test_killed", [.seconds(3600)])
            device.onValue(of: Lamp.label) { label.add($0) }
            try await label.wait(for: 1)
            child.send(signal: SIGKILL)
            try await child.waitForExit()
            return device
        }
        try await eventually { device.isReconnecting }
        // Its name is free now.
        try await gone.next("the killed service's end") { $0 == "Rover" }
        try await ChildProcess.with(path, publish) { _ in
            try await label.wait(for: 2)
            #expect(device.isConnected)
            await device.close()
        }
    }
}
