import Elemental
import SignalR
import Support
import TestSupport
import Testing

@testable import SignalRBridge

/// The events of a bridge.
struct BridgeNotes: Sendable {
    /// The names of elements with a value that was not forwarded.
    let failed = Transcript<String>()
}

/// A clock that stands still until it may run.
final class SteppedClock: Sendable {
    private let time = Locked((now: ContinuousClock.now, step: Duration.zero))

    var now: @Sendable () -> ContinuousClock.Instant {
        { [time] in
            time.withLock { time in
                time.now += time.step
                return time.now
            }
        }
    }

    /// From now on a second passes with each look at it.
    func run() { time.withLock { $0.step = .seconds(1) } }
}

/// A service on loopback, unpublished.
func service(_ elements: ElementCatalogue, port: Int = 0) -> ElementalService {
    ElementalService("rover", displayName: "Rover", elements: elements, configuration: .loopback(port: port))
}

/// A client of the service that reconnects quickly.
func connect(_ service: ElementalService) async throws -> ElementalDevice {
    var options = ConnectOptions()
    options.timeout = Patience.wait
    options.reconnection = .forever(every: .milliseconds(20))
    return try await service.connect(options)
}

func bridge(
    _ device: ElementalDevice, _ elements: ElementCatalogue, _ port: Int, _ hubProtocol: HubProtocol = .json,
    _ change: (inout BridgeOptions) -> Void = { $0.interval = .zero }
) throws -> HubBridge {
    let connection = HubConnectionBuilder(url: "http://127.0.0.1:\(port)/hub").withHubProtocol(hubProtocol)
        .withAutoReconnect(.exponential(first: .milliseconds(20), maximum: .milliseconds(200), jitter: 0)).build()
    var options = BridgeOptions()
    options.setsElements = true
    change(&options)
    return try HubBridge(device: device, elements: elements, connection: connection, options: options)
}

/// Runs a bridge between a service and a hub during the body.
func withBridge(
    _ service: ElementalService, _ elements: ElementCatalogue, _ port: Int, _ hubProtocol: HubProtocol = .json,
    _ change: (inout BridgeOptions) -> Void = { $0.interval = .zero },
    _ body: (HubBridge, BridgeNotes) async throws -> Void
) async throws {
    let device = try await connect(service)
    let bridge = try bridge(device, elements, port, hubProtocol, change)
    let notes = BridgeNotes()
    bridge.onEvent { event in
        if case .value(let value) = event, case .notPassed = value.outcome { notes.failed.add(value.element.name) }
    }
    let opened = Transcript<Void>()
    bridge.connection.onOpened { opened.add(()) }
    let running = Task { try await bridge.run() }
    try await opened.next()
    try await body(bridge, notes)
    running.cancel()
    #expect(try await running.value == nil)
    await device.close()
}

/// Another client of the hub, during the body.
func withWatcher(
    _ port: Int, _ hubProtocol: HubProtocol, _ methods: [String],
    _ heard: Transcript<(method: String, value: HubValue)>,
    _ body: (HubConnection) async throws -> Void
) async throws {
    let connection = HubConnectionBuilder(url: "http://127.0.0.1:\(port)/hub").withHubProtocol(hubProtocol).build()
    for method in methods {
        connection.onAny(method) { arguments in heard.add((arguments.method, try arguments.decode(at: 0))) }
    }
    try await connection.start()
    try await body(connection)
    await connection.stop()
}
