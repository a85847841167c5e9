import Elemental
import TestSupport
import Testing

/// A service and a client that reconnects to it, over real sockets on loopback.
enum Reconnecting {
    /// Elements, two of which keep their newest value while the device is reconnecting.
    enum Rover {
        static let number = Element<UInt64>(1, "Number")
        static let level = Element<UInt32>(2, "Level", latest: true)
        static let aim = Element<Vector3>(3, "Aim", transport: .udp, latest: true)
        static let label = Element<String>(4, "Label")
        static let picture = Element<Data>(5, "Picture")
        static let all: ElementCatalogue = [number, level, aim, label, picture]
    }

    /// Attempts in quick succession, for ever.
    static let soon: any ReconnectionPolicy = .forever(every: .milliseconds(20))
    /// Does not try again within the test.
    static let late: any ReconnectionPolicy = ListedDelays([.seconds(3600)])

    /// Delays from a list, noting what it was asked.
    final class Noting: ReconnectionPolicy {
        let asked = Transcript<ReconnectionAttempt>()
        private let delays: [Duration]

        init(_ delays: [Duration]) { self.delays = delays }

        func delay(before attempt: ReconnectionAttempt) -> Duration? {
            asked.add(attempt)
            return attempt.number <= delays.count ? delays[attempt.number - 1] : nil
        }
    }

    static func service(
        at port: Int? = nil, _ elements: ElementCatalogue = Rover.all,
        _ change: (inout ServiceConfiguration) -> Void = { _ in },
        handlers: (ElementalService) -> Void = { _ in }
    ) async throws -> ElementalService {
        var configuration = ServiceConfiguration()
        configuration.address = "127.0.0.1"
        configuration.isPublished = false
        configuration.limits.handshakeTimeout = Patience.wait
        configuration.port = try port.map(PortLease.again) ?? PortLease.port()
        change(&configuration)
        let service = ElementalService("test", displayName: "Test", elements: elements, configuration: configuration)
        // Before it starts: clients that reconnect are there at once.
        handlers(service)
        try await service.start()
        return service
    }

    static func connect(
        _ service: ElementalService, _ policy: (any ReconnectionPolicy)?, elements: ElementCatalogue? = Rover.all,
        _ change: (inout ConnectOptions) -> Void = { _ in }
    ) async throws -> ElementalDevice {
        try await ElementalTests.connect(
            try #require(service.port), elements: elements,
            with: {
                $0.reconnection = policy
                change(&$0)
            })
    }

    /// Connects a client to a scripted older server without UDP.
    static func connectToOlderPeer(
        _ policy: (any ReconnectionPolicy)? = soon
    ) async throws -> (listener: RawSocket, peer: RawSocket, device: ElementalDevice) {
        let (listener, port) = try RawSocket.listen()
        var options = ConnectOptions.patient
        options.reconnection = policy
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Rover.all, options: options)
        let peer = try await listener.accept()
        try peer.write([0xff, 1, 0, 0, 0, 0])
        return (listener, peer, try await connecting)
    }

    /// Runs a service and a client of it that reconnects, and ends both.
    static func withPair(
        _ policy: (any ReconnectionPolicy)?, elements: ElementCatalogue? = Rover.all,
        _ change: (inout ConnectOptions) -> Void = { _ in },
        _ body: (_ service: ElementalService, _ port: Int, _ device: ElementalDevice) async throws -> Void
    ) async throws {
        let service = try await Self.service()
        try await service.stop(after: {
            let port = try #require(service.port)
            let device = try await Self.connect(service, policy, elements: elements, change)
            do {
                try await body(service, port, device)
            } catch {
                await device.close()
                throw error
            }
            await device.close()
        })
    }

    static func words(_ events: [DeviceEvent]) -> [String] {
        events.map { event in
            switch event {
            case .willReconnect(let attempt, let delay): "will \(attempt.number) \(delay)"
            case .didReconnect: "did"
            case .disconnected(let reason): "over: \(reason)"
            }
        }
    }
}
