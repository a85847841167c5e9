import CoreMetrics
import NIOPosix
import Support

protocol MetricsSource: AnyObject, Sendable {
    var isConnected: Bool { get }
    /// Returns the counts now and those at the previous call.
    func takeMetrics() -> (now: MetricsSample, before: MetricsSample)
}

/// Reports the statistics of devices to the program's metrics backend (swift-metrics): once a second, and at once when
/// a device ends. The backend is never called on an event loop.
final class MetricsReporter: Sendable {
    private struct Entry {
        let account: MetricsAccount
        /// Weak, so that a device whose event loop was shut down is released.
        weak var device: (any MetricsSource)?
    }

    private struct State {
        var devices: [ObjectIdentifier: Entry] = [:]
        /// The counts of devices that have ended since the last report.
        var ended: [MetricsAccount: MetricsReport] = [:]
        var isRunning = false
        var series: [MetricsAccount: MetricsSeries] = [:]
        /// The accounts without a device, least recently used first.
        var idle: [MetricsAccount] = []

        /// Evicts accounts without a device, and returns their metrics.
        mutating func evict() -> [MetricsSeries] {
            let living = Set(devices.values.map(\.account))
            idle.removeAll { living.contains($0) }
            let known = living.union(idle)
            idle += series.keys.filter { !known.contains($0) }
            let surplus = max(0, idle.count - maximumIdleCount)
            defer { idle.removeFirst(surplus) }
            return idle.prefix(surplus).compactMap { series.removeValue(forKey: $0) }
        }
    }

    static let shared = MetricsReporter()
    private static let interval: Duration = .seconds(1)
    /// How many accounts without a device are kept, so that their counters continue when the service is connected
    /// again.
    static let maximumIdleCount = 256

    private let state = Locked(State())
    private let ending = Latch()

    var isIdle: Bool { state.withLock { !$0.isRunning } }

    func begin(_ device: any MetricsSource, for account: MetricsAccount) {
        let starts = state.withLock { state in
            // The entry of a released device may have had the same address.
            guard state.devices[ObjectIdentifier(device)]?.device == nil else { return false }
            state.devices[ObjectIdentifier(device)] = Entry(account: account, device: device)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Task { await run() } }
    }

    func end(_ device: any MetricsSource) {
        state.withLock { state in
            guard let entry = state.devices.removeValue(forKey: ObjectIdentifier(device)) else { return }
            state.ended[entry.account, default: MetricsReport()].add(device.takeMetrics())
        }
        ending.open()
    }

    private func run() async {
        while true {
            ending.close()
            report()
            let isDone = state.withLock { state in
                if state.devices.isEmpty, state.ended.isEmpty { state.isRunning = false }
                return !state.isRunning
            }
            if isDone { return }
            _ = await ending.wait(Self.interval, on: MultiThreadedEventLoopGroup.singleton.any())
        }
    }

    private func report() {
        // Devices are released without the lock: the last reference may be this one.
        var living: [any MetricsSource] = []
        let (reports, series) = state.withLock { state in
            var reports = state.ended
            state.ended = [:]
            for (identity, entry) in state.devices {
                // The account of a released device has one connection less, perhaps none.
                var report = reports[entry.account] ?? MetricsReport()
                if let device = entry.device {
                    living.append(device)
                    report.add(device.takeMetrics())
                    if device.isConnected { report.connections += 1 }
                } else {
                    state.devices[identity] = nil
                }
                reports[entry.account] = report
            }
            return (reports, state.series)
        }
        living = []
        for (account, report) in reports {
            let series = series[account] ?? MetricsSeries(account)
            state.withLock { $0.series[account] = series }
            series.report(report)
        }
        for series in state.withLock({ $0.evict() }) { series.destroy() }
    }
}
