import ElementalSecurity
import Logging
import NIOCore
import Support
import TestSupport
import Testing
import Zeroconf

@testable import Elemental

/// How a device that waits for its next attempt to reconnect reacts to a listing of services. The test controls the listing
/// and the clock.
@Suite(.backstop)
struct ReconnectionListingTests {
    private typealias Rover = Reconnecting.Rover

    /// The system's network with a listing and a clock that the test controls.
    private final class ListedNetwork: ClientNetwork {
        private let system = SystemNetwork()
        private let start = ContinuousClock.now
        private let elapsed = Locked(Duration.zero)
        private let listeners = Locked<[@Sendable (ElementalBrowser.Event) -> Void]>([])

        var now: ContinuousClock.Instant { start + elapsed.withLock { $0 } }

        func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }

        /// Passes an event to the devices that watch.
        func tell(_ event: ElementalBrowser.Event) { for tell in listeners.withLock({ $0 }) { tell(event) } }

        func watch(
            _ service: String, logger: Logger, on eventLoop: any EventLoop,
            _ handler: @escaping (ElementalBrowser.Event) -> Void
        ) -> AnyObject {
            let handler = NIOLoopBound(handler, eventLoop: eventLoop)
            listeners.withLock { $0.append { event in eventLoop.execute { handler.value(event) } } }
            return self
        }

        func connect(
            to endpoint: ServiceEndpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
        ) -> EventLoopFuture<any Channel> { system.connect(to: endpoint, named: name, options, on: eventLoop) }

        func openDatagrams(
            to remote: SocketAddress, from local: SocketAddress?, on eventLoop: any EventLoop,
            _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> EventLoopFuture<any Channel> { system.openDatagrams(to: remote, from: local, on: eventLoop, initialize) }
    }

    /// What a service for paired clients publishes.
    private static func entries(_ key: Fingerprint) -> [(key: String, value: String)] {
        [(ServiceTXT.version, "1"), ("sec", "2"), ("id", key.short)]
    }

    private static func listed(
        _ name: String = "Test", at port: Int, _ key: Fingerprint? = nil
    ) throws -> DiscoveredService {
        DiscoveredService(
            ResolvedService(
                instance: ServiceInstance(name: name, type: try .tcp("test")), host: "localhost.", port: port,
                txt: TXTRecord(key.map { Self.entries($0) } ?? []),
                addresses: [try #require(NetworkAddress(bytes: [127, 0, 0, 1], interfaceIndex: 1))]))
    }

    /// The device waits for an hour unless the service returns.
    @Test
    func onlyAServiceThatReturnsEndsTheDelay() async throws {
        let network = ListedNetwork()
        let service = try await Reconnecting.service()
        let port = try #require(service.port)
        var options = ConnectOptions.patientAtTheEnd
        options.network = network
        options.reconnection = ListedDelays([.zero, .seconds(3600)])
        options.security = .open
        let device = try await connectByName(port, elements: Rover.all, options: options)
        let attempts = Transcript<Int>()
        device.onEvent { event in
            if case .willReconnect(let attempt, _) = event { attempts.add(attempt.number) }
        }
        await service.stop()
        // The first attempt has failed.
        try await attempts.wait(for: 2)
        let second = try await Reconnecting.service(at: port)
        // A cached record comes at once, and its update later.
        network.tell(.found(try Self.listed(at: port)))
        try await device.eventLoop.submit {}.get()
        network.advance(by: ServiceSightings.cacheTime + .seconds(1))
        network.tell(.updated(try Self.listed(at: port)))
        try await device.eventLoop.submit {}.get()
        #expect(device.isReconnecting)
        #expect(attempts.all == [1, 2])
        network.tell(.gone(service: "test", name: "Test"))
        network.tell(.found(try Self.listed(at: port)))
        try await eventually { device.isConnected }
        #expect(attempts.all == [1, 2, 2])
        await device.close()
        await second.stop()
    }

    /// Somebody else has the instance's name, and the service gets another one from Zeroconf.
    @Test(arguments: [true, false])
    func thePinnedKeyIsFoundUnderANewName(_ isImpostorFirst: Bool) async throws {
        let (network, ends, other) = (ListedNetwork(), try PairedEnds(), try PairedEnds())
        let attempts = Transcript<Int>()
        try await ends.withService { service, port in
            let device = try await ends.connect(port) {
                $0.network = network
                $0.reconnection = ListedDelays([.zero, .seconds(3600), .seconds(3600), .seconds(3600)])
            }
            device.onEvent { event in
                if case .willReconnect(let attempt, _) = event { attempts.add(attempt.number) }
            }
            await service.stop()
            // The first attempt has failed.
            try await attempts.wait(for: 2)
            try await other.withService { _, impostorPort in
                try await ends.withService { _, truePort in
                    let impostor = try Self.listed(at: impostorPort, other.service.fingerprint)
                    let renamed = try Self.listed("Test #2", at: truePort, ends.service.fingerprint)
                    if isImpostorFirst {
                        network.tell(.found(impostor))
                        // The attempt there has failed.
                        try await attempts.wait(for: 4)
                        network.tell(.found(renamed))
                    } else {
                        for service in [renamed, impostor, impostor, impostor] { network.tell(.found(service)) }
                    }
                    try await eventually { device.isConnected }
                    #expect(device.fingerprint == ends.service.fingerprint)
                    await device.close()
                }
            }
        }
    }
}
