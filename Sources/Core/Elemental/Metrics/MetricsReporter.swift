import CoreMetrics
import NIOPosix
import Support

/// Where a device's statistics are reported, and under which key.
struct MetricsAccount: Sendable {
    let reporter: MetricsReporter
    let key: Key

    /// Distinguishes sets of metrics. The clients of a service share one: they choose their names, so there could be
    /// any number of them.
    struct Key: Sendable, Hashable {
        /// Which end this program is.
        enum Role: String {
            case client, service
        }

        /// The service's name, such as `robot`; empty if the client connected by host and port.
        let service: String
        /// The name of the service's instance, or its host and port.
        let device: String
        let role: Role

        /// The label `instance` belongs to Prometheus, so it is not used.
        var dimensions: [(String, String)] { [("service", service), ("device", device), ("role", role.rawValue)] }
    }

    /// The account of a client's device or of a service; `nil` if the program has no backend for metrics.
    ///
    /// Call it in the program's task, which may have a backend of its own.
    static func current(service: String, device: String, role: Key.Role) -> MetricsAccount? {
        MetricsReporter.current.map {
            MetricsAccount(reporter: $0, key: Key(service: service, device: device, role: role))
        }
    }
}

/// A device whose statistics are reported.
protocol MetricsSource: AnyObject, Sendable {
    /// What it has counted so far.
    var metricsSample: MetricsSample { get }
    /// What it had counted when it ended, all of which was reported; `nil` if it has not ended yet.
    var metricsAtEnd: MetricsSample? { get set }
    var isConnected: Bool { get }
}

/// Reports the statistics of devices to the program's metrics backend (swift-metrics): once a second, from a single
/// task that runs while there are devices, and at once when a device ends.
///
/// Counting costs a device no more than without a backend, and the backend is never called on an event loop.
final class MetricsReporter: Sendable {
    fileprivate struct Entry {
        let key: MetricsAccount.Key
        /// Weak, so that a device whose event loop was shut down is released.
        weak var device: (any MetricsSource)?
        var reported: MetricsSample
    }

    /// What a device had counted at its end, and the part that was reported before.
    fileprivate struct Final {
        let key: MetricsAccount.Key
        let reported: MetricsSample
        let sample: MetricsSample
    }

    fileprivate struct State {
        var devices: [ObjectIdentifier: Entry] = [:]
        /// Since the last report.
        var ended: [Final] = []
        var isRunning = false
        /// Opens when a device has ended.
        var ending = Latch()
        var series: [MetricsAccount.Key: MetricsSeries] = [:]
        /// The accounts without a device, least recently used first.
        var idle: [MetricsAccount.Key] = []
    }

    private let factory: any MetricsFactory
    private let state = Locked(State())

    private static let interval: Duration = .seconds(1)
    /// How many accounts without a device keep their metrics, so that a counter goes on when the service is connected
    /// again.
    static let maximumIdleCount = 256

    init(_ factory: any MetricsFactory) { self.factory = factory }

    // MARK: Devices

    /// Reports the device's statistics from now on, including what it has counted already.
    func begin(_ device: any MetricsSource, as key: MetricsAccount.Key) {
        // At its end a device has reported what it had counted.
        let reported = device.metricsAtEnd ?? MetricsSample()
        let starts = state.withLock { state in
            // The entry of a released device may have had the same address.
            guard state.devices[ObjectIdentifier(device)]?.device == nil else { return false }
            state.devices[ObjectIdentifier(device)] = Entry(key: key, device: device, reported: reported)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Task { await run() } }
    }

    func end(_ device: any MetricsSource) {
        let sample = device.metricsSample
        let ending: Latch? = state.withLock { state in
            guard let entry = state.devices.removeValue(forKey: ObjectIdentifier(device)) else { return nil }
            state.ended.append(Final(key: entry.key, reported: entry.reported, sample: sample))
            return state.ending
        }
        guard let ending else { return }
        device.metricsAtEnd = sample
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

    /// Reports what has been counted since the last time.
    private func report() {
        // Devices are released without the lock: the last reference may be this one.
        var devices: [any MetricsSource] = []
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

    /// What to report of each account that has or had a device.
    ///
    /// - Parameter living: receives the devices, to be released later.
    private static func reports(
        _ state: inout State, _ living: inout [any MetricsSource]
    ) -> [MetricsAccount.Key: MetricsReport] {
        var reports: [MetricsAccount.Key: MetricsReport] = [:]
        for final in state.ended {
            reports[final.key, default: MetricsReport()].add(final.sample, since: final.reported)
        }
        state.ended = []
        for (identity, entry) in state.devices {
            guard let device = entry.device else {
                state.devices[identity] = nil
                // Reports that the account has one connection less, perhaps none.
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
    /// Updates the idle accounts.
    ///
    /// - Returns: the metrics of the evicted ones.
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
    /// How many reporters without a device are kept. A program has one backend.
    private static let maximumCount = 8

    /// The reporter to the backend of the current task or of the program; `nil` if there is none.
    static var current: MetricsReporter? {
        let factory = MetricsSystem.factory
        guard !(factory is NOOPMetricsHandler) else { return nil }
        // Only objects have an identity to compare.
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
