import Elemental
import Support

/// Round trips by the framework's own pings, which any service answers.
struct PingTrips: Sendable {
    /// The maximum length of a ping, in bytes.
    static let maximumSize = 1024
    /// The maximum number in flight; further ones that are due count as lost.
    private static let maximumUnderWay = 10_000

    let device: ElementalDevice
    let transport: Transport
    let count: Int
    /// The bytes of each ping.
    let size: Int
    /// Pings a second; `nil` for consecutive ones.
    let rate: Double?
    let timeout: Duration

    func run(_ report: LatencyReport, warmUpCount: Int) async throws(ElementalError) -> LatencyReport {
        for number in 0..<warmUpCount {
            do throws(ElementalError) {
                _ = try await ping()
            } catch {
                guard error.code == .timedOut, transport == .udp, number > 0 else { throw error }
            }
        }
        if let rate { return try await run(report, at: rate) }
        var report = report
        for _ in 0..<count {
            do throws(ElementalError) {
                report.record(try await ping())
            } catch {
                guard error.code == .timedOut else { throw error }
                report.recordLosses(1)
            }
        }
        return report
    }

    private func ping() async throws(ElementalError) -> Duration {
        try await device.ping(over: transport, size: size, timeout: timeout)
    }

    private func run(_ report: LatencyReport, at rate: Double) async throws(ElementalError) -> LatencyReport {
        let tally = Tally(report)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let pacer = Pacer(count: count, rate: rate)
        pacer.start { number in
            guard tally.begin(atMost: Self.maximumUnderWay) else {
                end.yield()
                return
            }
            Task {
                await trip(pacer.due(number), tally)
                end.yield()
            }
        }
        defer { pacer.cancel() }
        var remaining = count
        for await _ in ends {
            remaining -= 1
            if remaining == 0 || tally.failure != nil { break }
        }
        if let failure = tally.failure { throw failure }
        if remaining > 0 { throw ElementalError(.cancelled, "the run was cancelled") }
        return tally.report
    }

    private func trip(_ due: UInt64, _ tally: Tally) async {
        let now = MonotonicClock.nanoseconds
        do throws(ElementalError) {
            tally.end(.success(.nanoseconds(Int64(now - min(now, due))) + (try await ping())))
        } catch {
            tally.end(.failure(error))
        }
    }
}

/// Counts the round trips that are in flight.
private final class Tally: Sendable {
    private struct State {
        var report: LatencyReport
        var underWay = 0
        var failure: ElementalError?
    }

    private let state: Locked<State>

    init(_ report: LatencyReport) { state = Locked(State(report: report)) }

    var report: LatencyReport { state.withLock { $0.report } }
    var failure: ElementalError? { state.withLock { $0.failure } }

    /// - Returns: whether one more may be in flight; if not, it counts as lost.
    func begin(atMost most: Int) -> Bool {
        state.withLock { state in
            guard state.underWay < most else {
                state.report.recordLosses(1)
                return false
            }
            state.underWay += 1
            return true
        }
    }

    func end(_ result: Result<Duration, ElementalError>) {
        state.withLock { state in
            state.underWay -= 1
            switch result {
            case .success(let time): state.report.record(time)
            case .failure(let error) where error.code == .timedOut: state.report.recordLosses(1)
            case .failure(let error): state.failure = state.failure ?? error
            }
        }
    }
}
