import Elemental
import Support

/// Many devices that send their motion, each on a connection of its own.
struct MotionLoad: Sendable {
    /// Messages a second of each device.
    static let rate = 120.0

    let devices: [ElementalDevice]
    let timeout: Duration

    /// Runs `body` while the devices send.
    func run(
        _ body: () async throws(ElementalError) -> LatencyReport
    ) async throws(ElementalError) -> LatencyReport {
        let reports = devices.map { Reports(device: $0, timeout: timeout) }
        var runs: [UInt32] = []
        for report in reports { runs.append(try await report.begin()) }
        let motion = Motion(devices, runs)
        let start = MonotonicClock.nanoseconds
        motion.start()
        defer { _ = motion.stop() }
        await Delay.wait(Load.leadTime)
        var report = try await body()
        let sent = motion.stop()
        let seconds = MonotonicClock.seconds(from: start, to: MonotonicClock.nanoseconds)
        let arrived = try await Self.arrived(reports, runs, sent)
        report.load = LoadReport(
            load: .motion, devices: devices.count, sent: Int(sent.reduce(0, +)),
            messages: arrived.reduce(0) { $0 + $1.messages }, bytes: arrived.reduce(0) { $0 + $1.bytes },
            seconds: seconds)
        return report
    }

    private static func arrived(
        _ reports: [Reports], _ runs: [UInt32], _ sent: [UInt64]
    ) async throws(ElementalError) -> [SinkReport] {
        let results: [Result<SinkReport, ElementalError>] = await withTaskGroup { group in
            for (report, (run, sent)) in zip(reports, zip(runs, sent)) {
                group.addTask {
                    await Result { () async throws(ElementalError) in
                        try await report.end(of: run, sent: sent, over: .udp).report
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var arrived: [SinkReport] = []
        for result in results { arrived.append(try result.get()) }
        return arrived
    }
}

/// Sends the devices' motion, evenly spread, from one thread.
private final class Motion: Sendable {
    /// How often per second the thread checks which devices are due.
    private static let lookRate = 1000.0

    private struct State {
        var sent: [UInt64]
        var isOver = false
    }

    private let devices: [ElementalDevice]
    private let runs: [UInt32]
    private let state: Locked<State>
    private let pacer = Pacer(count: .max, rate: lookRate, isExact: false)

    init(_ devices: [ElementalDevice], _ runs: [UInt32]) {
        self.devices = devices
        self.runs = runs
        state = Locked(State(sent: Array(repeating: 0, count: devices.count)))
    }

    func start() { pacer.start { [self] look in send(at: Double(look) / Self.lookRate) } }

    /// - Returns: how many messages each device has sent.
    func stop() -> [UInt64] {
        pacer.cancel()
        return state.withLock { state in
            state.isOver = true
            return state.sent
        }
    }

    /// - Parameter time: since the start, in seconds.
    private func send(at time: Double) {
        state.withLock { state in
            guard !state.isOver else { return }
            for (position, device) in devices.enumerated() {
                let phase = Double(position) / Double(devices.count)
                let due = max(0, time * MotionLoad.rate - phase)
                while Double(state.sent[position]) < due {
                    let number = MessageNumber(run: runs[position], sequence: state.sent[position])
                    // A message that cannot be sent counts as lost in the report.
                    try? device.send(Vector3(number, byteCount: 12), to: BenchElements.motion)
                    state.sent[position] += 1
                }
            }
        }
    }
}
