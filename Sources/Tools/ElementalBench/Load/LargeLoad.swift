import Elemental
import Support

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// Streams large values over the connection that is measured.
struct LargeLoad: Sendable {
    private static let byteCount = 1 << 20

    let device: ElementalDevice
    let timeout: Duration

    /// Runs `body` while the values stream.
    func run<Report>(
        _ body: () async throws(ElementalError) -> Report
    ) async throws(ElementalError) -> (Report, LoadReport) {
        let reports = Reports(device, timeout: timeout)
        defer { reports.end() }
        let run = try await reports.begin()
        let isOver = StopFlag()
        defer { isOver.raise() }
        let sender = NumberedSender(device: device, element: BenchElements.data, byteCount: Self.byteCount)
        let sending = Task { () async -> Result<UInt64, ElementalError> in
            do throws(ElementalError) {
                return .success(try await sender.send(run: run, until: .flag(isOver)))
            } catch {
                return .failure(error)
            }
        }
        let start = MonotonicClock.nanoseconds
        await Delay.wait(Load.leadTime)
        let report = try await body()
        isOver.raise()
        let sent = try await sending.value.get()
        let arrived = try await reports.end(of: run, sent: sent, over: .tcp).report
        return (
            report,
            LoadReport(
                load: .large, sent: Int(sent), messages: arrived.messages, bytes: arrived.bytes,
                seconds: MonotonicClock.seconds(from: start, to: MonotonicClock.nanoseconds))
        )
    }
}
