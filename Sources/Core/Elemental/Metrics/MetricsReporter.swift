import CoreMetrics
import NIOPosix
import Support

/// What a device's statistics are reported as, and to whom.
struct MetricsAccount: Sendable {
    let reporter: MetricsReporter
    let key: Key

    /// What tells one set of metrics from another. The clients of a service share one: their names are theirs to choose,
    /// and would make metrics without end.
    struct Key: Sendable, Hashable {
        /// Which end this program is.
        enum Role: String {
            case client, service
        }

        /// The service's name, such as `robot`; empty where a client connected by host and port.
        let service: String
        /// The name of the service's instance, or its host and port.
        let device: String
        let role: Role

        /// The dimensions of a metric. The label `instance` belongs to Prometheus, so it is not used.
        var dimensions: [(String, String)] { [("service", service), ("device", device), ("role", role.rawValue)] }
    }

    /// The account of a client's device or a service's; `nil` if the program has no backend for metrics.
    ///
    /// To be called in the task of the program, which may have a backend of its own.
    static func current(service: String, device: String, role: Key.Role) -> MetricsAccount? {
        MetricsReporter.current.map {
            MetricsAccount(reporter: $0, key: Key(service: service, device: device, role: role))
        }
    }
}

extension ElementalDevice {
    /// The device is connected, for the first time or again: its statistics are reported until it ends.
    func beginMetrics() {
        guard let metrics else { return }
        metrics.reporter.begin(self, as: metrics.key)
    }

    /// The device has ended.
    func endMetrics() { metrics?.reporter.end(self) }

    /// What has been counted so far.
    var metricsSample: MetricsSample {
        var sample = MetricsSample(statistics: statistics)
        state.withLock { state in
            sample.roundTrips = state.inbound.roundTripCount
            sample.reconnections = state.reconnectionCount
        }
        return sample
    }
}

/// Reports the statistics of devices to the program's backend for metrics (swift-metrics): what has been counted once a
/// second, from a single task, which runs while there is a device, and at the end of a device at once.
///
/// Counting costs a device nothing more than without a backend, and the backend is never called on an event loop.
final class MetricsReporter: Sendable {
    /// A device whose statistics are reported.
    fileprivate struct Entry {
        let key: MetricsAccount.Key
        /// Weak, so that a device whose event loop was shut down does not stay for ever.
        weak var device: ElementalDevice?
        var reported: MetricsSample
    }

    /// What a device had counted at its end, and what of it was reported before.
    fileprivate struct Final {
        let key: MetricsAccount.Key
        let reported: MetricsSample
        let sample: MetricsSample
    }

    fileprivate struct State {
        var devices: [ObjectIdentifier: Entry] = [:]
        /// The devices that have ended since the last report.
        var ended: [Final] = []
        var isRunning = false
        /// Opens when a device has ended.
        var ending = Latch()
        /// The metrics that exist.
        var series: [MetricsAccount.Key: MetricsSeries] = [:]
        /// The accounts without a device, those that have had none for the longest time first.
        var idle: [MetricsAccount.Key] = []
    }

    private let factory: any MetricsFactory
    private let state = Locked(State())

    private static let interval: Duration = .seconds(1)
    /// The most accounts without a device whose metrics are kept, so that a counter goes on when the service is connected
    /// again.
    static let maximumIdleCount = 256

    init(_ factory: any MetricsFactory) { self.factory = factory }

    // MARK: Devices

    /// Reports the device's statistics from now on, including what it has counted already.
    func begin(_ device: ElementalDevice, as key: MetricsAccount.Key) {
        // One that had ended has reported what it counted before.
        let reported = device.state.withLock { $0.metricsAtEnd } ?? MetricsSample()
        let starts = state.withLock { state in
            // An entry of a device that is not there any more may have had the same address.
            guard state.devices[ObjectIdentifier(device)]?.device == nil else { return false }
            state.devices[ObjectIdentifier(device)] = Entry(key: key, device: device, reported: reported)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Task { await run() } }
    }

    /// The device counts nothing any more.
    func end(_ device: ElementalDevice) {
        let sample = device.metricsSample
        let ending: Latch? = state.withLock { state in
            guard let entry = state.devices.removeValue(forKey: ObjectIdentifier(device)) else { return nil }
            state.ended.append(Final(key: entry.key, reported: entry.reported, sample: sample))
            return state.ending
        }
        guard let ending else { return }
        device.state.withLock { $0.metricsAtEnd = sample }
        ending.open()
    }

    // MARK: Reporting

    private func run() async {
        while true {
            let ending = state.withLock { $0.ending }
            report()
            let isDone = state.withLock { state in
                if state.devices.isEmpty, state.ended.isEmpty { state.isRunning = false }
                return !state.isRunning
            }
            if isDone { return }
            _ = await ending.wait(Self.interval, on: MultiThreadedEventLoopGroup.singleton.any())
            state.withLock { $0.ending = Latch() }
        }
    }

    /// Hands the backend what has been counted since the last time.
    private func report() {
        // Devices are released without the lock: the last reference may be this one.
        var devices: [ElementalDevice] = []
        let (reports, series) = state.withLock { state in
            (Self.reports(&state, &devices), state.series)
        }
        devices = []
        for (key, report) in reports {
            if let known = series[key] {
                known.report(report)
            } else {
                let new = MetricsSeries(key, in: factory)
                state.withLock { $0.series[key] = new }
                new.report(report)
            }
        }
        let superfluous = state.withLock { $0.retire() }
        for series in superfluous { series.destroy() }
    }

    /// What there is to report of each account that has or had a device.
    ///
    /// - Parameter living: takes the devices, to be released later.
    private static func reports(
        _ state: inout State, _ living: inout [ElementalDevice]
    ) -> [MetricsAccount.Key: MetricsReport] {
        var reports: [MetricsAccount.Key: MetricsReport] = [:]
        for final in state.ended {
            reports[final.key, default: MetricsReport()].add(final.sample, since: final.reported)
        }
        state.ended = []
        for (identity, entry) in state.devices {
            guard let device = entry.device else {
                state.devices[identity] = nil
                // Its connection does not count any more, perhaps as the account's last.
                reports[entry.key] = reports[entry.key] ?? MetricsReport()
                continue
            }
            living.append(device)
            let sample = device.metricsSample
            reports[entry.key, default: MetricsReport()].add(sample, since: entry.reported)
            if device.isConnected { reports[entry.key]?.connections += 1 }
            state.devices[identity]?.reported = sample
        }
        return reports
    }
}

extension MetricsReporter.State {
    /// Notes which accounts have no device any more.
    ///
    /// - Returns: the metrics of those that have had none for the longest time, where there are too many.
    fileprivate mutating func retire() -> [MetricsSeries] {
        let living = Set(devices.values.map(\.key))
        idle.removeAll { living.contains($0) }
        let known = Set(idle)
        idle += series.keys.filter { !living.contains($0) && !known.contains($0) }
        let surplus = max(0, idle.count - MetricsReporter.maximumIdleCount)
        defer { idle.removeFirst(surplus) }
        return idle.prefix(surplus).compactMap { series.removeValue(forKey: $0) }
    }
}

// MARK: - The program's backend

extension MetricsReporter {
    private static let all = Locked<[ObjectIdentifier: MetricsReporter]>([:])
    /// The most reporters to backends that are kept without a device. A program has one backend.
    private static let maximumCount = 8

    /// The reporter to the backend of the current task, else the program's; `nil` if there is none.
    static var current: MetricsReporter? {
        let factory = MetricsSystem.factory
        guard !(factory is NOOPMetricsHandler) else { return nil }
        // Only an object can be recognised.
        guard type(of: factory) is any AnyObject.Type else { return MetricsReporter(factory) }
        let identity = ObjectIdentifier(factory as AnyObject)
        let (reporter, superfluous): (MetricsReporter, [MetricsReporter]) = all.withLock { all in
            if let known = all[identity] { return (known, []) }
            let superfluous = all.count < maximumCount ? [:] : all.filter { $0.value.isIdle }
            for identity in superfluous.keys { all[identity] = nil }
            let reporter = MetricsReporter(factory)
            all[identity] = reporter
            return (reporter, Array(superfluous.values))
        }
        for reporter in superfluous { reporter.destroySeries() }
        return reporter
    }

    var isIdle: Bool { state.withLock { !$0.isRunning } }

    private func destroySeries() {
        let series = state.withLock { state in
            defer { (state.series, state.idle) = ([:], []) }
            return state.series.values
        }
        for series in series { series.destroy() }
    }
}
