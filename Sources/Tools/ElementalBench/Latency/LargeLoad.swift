import Elemental
import Support

/// Streams large values over the connection that is measured.
struct LargeLoad: Sendable {
    private static let byteCount = 1 << 20

    let device: ElementalDevice
    let timeout: Duration

    /// Runs `body` while the values stream.
    func run(
        _ body: () async throws(ElementalError) -> LatencyReport
    ) async throws(ElementalError) -> LatencyReport {
        let reports = Reports(device: device, timeout: timeout)
        let run = try await reports.begin()
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        let sender = NumberedSender(device: device, element: BenchElements.data, byteCount: Self.byteCount)
        let sending = Task {
            await Result { () async throws(ElementalError) in
                try await sender.send(run: run) { _ in isOver.withLock { $0 } ? 0 : .max }
            }
        }
        let start = MonotonicClock.nanoseconds
        await Delay.wait(Load.leadTime)
        var report = try await body()
        isOver.withLock { $0 = true }
        let sent = try await sending.value.get()
        let arrived = try await reports.end(of: run, sent: sent, over: .tcp).report
        report.load = LoadReport(
            load: .large, devices: 1, sent: Int(sent), messages: arrived.messages, bytes: arrived.bytes,
            seconds: MonotonicClock.seconds(from: start, to: MonotonicClock.nanoseconds))
        return report
    }
}
