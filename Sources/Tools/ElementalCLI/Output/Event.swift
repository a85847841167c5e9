import Elemental
import ElementalBench
import SignalRBridge

/// What the commands have to say. Its JSON form is documented in the article on the command line.
enum Event: Sendable {
    // Discovery
    case found(DiscoveredService)
    case updated(DiscoveredService)
    case gone(service: String, name: String)
    case unresolved(service: String, name: String, reason: String)
    case discoveryFailed(reason: String, retryIn: Duration)

    // A service of ours
    case listening(service: String, port: Int, maximumDevices: Int)
    case published(service: String, name: String, port: Int)
    case publishFailed(service: String, reason: String, retryIn: Duration)
    case stopped(service: String)

    // A connection
    /// A client connected to a service of ours.
    case connected(device: String, address: String)
    /// We connected to a service.
    case joined(device: String, address: String)
    case disconnected(device: String, DisconnectReason)
    /// The connection was lost, or an attempt to make it anew failed; the next one follows.
    case willReconnect(device: String, ReconnectionAttempt, delay: Duration)
    case didReconnect(device: String, address: String)
    case service(ServiceDescription)
    /// A value that a client sent to a service of ours.
    case received(ArrivedValue, device: String)
    /// A value that the service told.
    case value(ArrivedValue, device: String)
    /// A value that was sent.
    case set(ElementDefinition, ElementValue, device: String)
    /// A part of a large value came or was taken.
    case progress(TransferProgress, device: String)
    case statistics(DeviceStatistics, device: String)
    case ping(Duration, device: String)

    // A Commodore's line
    /// The line is `ready` to be attached to, `open` or `lost`.
    case line(String?, state: String, reason: String?, retryIn: Duration?)
    /// A program of the machine's is connected by that name, or is not any more.
    case program(String, isConnected: Bool)
    /// Bytes that a terminal sent or received, and how long after it was started.
    case record([UInt8], isSent: Bool, isWhole: Bool, elapsed: Duration)

    // Measurements
    case latency(LatencyReport)
    case throughput(ThroughputReport)
    case fanOut(FanOutReport)

    // The virtual Commodore
    /// What its screen shows at the end.
    case screen(ScreenReport)
    /// A test of its processor succeeded.
    case cpuTest(cycles: Int)

    // SignalR
    /// What happens to a connection to a hub, and what comes over it.
    case hub(HubEvent)
    /// What passes between a service and a hub.
    case bridge(BridgeEvent, hub: String)

    /// A failure; `code` is one word.
    case error(String, code: String)

    /// Whether it is what the command was asked for, rather than talk about how it goes.
    var isResult: Bool {
        switch self {
        case .found, .updated, .gone, .service, .received, .value, .set, .statistics, .ping, .latency,
            .throughput, .fanOut, .record, .screen, .cpuTest:
            true
        case .unresolved, .discoveryFailed, .listening, .published, .publishFailed, .stopped, .connected, .joined,
            .disconnected, .willReconnect, .didReconnect, .progress, .line, .program, .error:
            false
        case .hub(let event): event.isResult
        case .bridge(let event, _): event.isResult
        }
    }
}
