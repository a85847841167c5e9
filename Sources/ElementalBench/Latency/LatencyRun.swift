public import Elemental
import Synchronization

/// A run of round trips, one after the other or at a fixed rate.
///
/// At a rate, each round trip begins when it is due, whether or not those before it were answered, and its time counts
/// from then: a stall of the other end shows in all the round trips that it delayed, not in one alone (which is known
/// as coordinated omission).
public struct LatencyRun: Sendable {
    /// Which way the messages travel.
    public var transport = Transport.tcp
    /// How many round trips are made.
    public var count = 10_000
    /// The bytes of each message's value, 8 to 1,024.
    public var size = 8
    /// Round trips a second; `nil` for one after the other.
    public var rate: Double?
    /// How long one may take before it counts as lost.
    public var timeout: Duration = .seconds(5)

    /// 10,000 round trips of 8 bytes over TCP, one after the other.
    public init() {}

    /// Round trips before the first that counts, so that both ends have their memory and code at hand.
    private static let warmUpCount = 100
    /// The most under way at a time; those due beyond it count as lost.
    private static let maximumUnderWay = 10_000

    /// Measures.
    ///
    /// - Parameter device: a connection to any service that answers pings.
    /// - Throws: ``ElementalError`` if the other end answers none, the connection ends or the task is cancelled.
    public func run(_ device: ElementalDevice) async throws(ElementalError) -> LatencyReport {
        for _ in 0..<min(Self.warmUpCount, count) {
            do throws(ElementalError) {
                _ = try await device.ping(over: transport, size: size, timeout: timeout)
            } catch {
                guard error.code == .timedOut, transport == .udp else { throw error }
            }
        }
        if let rate { return try await run(device, at: rate) }
        var report = LatencyReport(transport: transport)
        for _ in 0..<count {
            do throws(ElementalError) {
                report.record(try await device.ping(over: transport, size: size, timeout: timeout))
            } catch {
                guard error.code == .timedOut else { throw error }
                report.recordLoss()
            }
        }
        return report
    }

    private func run(_ device: ElementalDevice, at rate: Double) async throws(ElementalError) -> LatencyReport {
        let tally = Tally(LatencyReport(transport: transport))
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let pacer = Pacer(count: count, interval: .seconds(1 / rate)) { due in
            guard tally.begin(atMost: Self.maximumUnderWay) else {
                end.yield()
                return
            }
            Task {
                await trip(device, due, tally)
                end.yield()
            }
        }
        var remaining = count
        pacer.start()
        for await _ in ends {
            remaining -= 1
            if remaining == 0 || tally.failure != nil { break }
        }
        pacer.cancel()
        if let failure = tally.failure { throw failure }
        if remaining > 0 { throw ElementalError(.cancelled, "the run was cancelled") }
        return tally.report
    }

    private func trip(_ device: ElementalDevice, _ due: ContinuousClock.Instant, _ tally: Tally) async {
        do throws(ElementalError) {
            let lateness = max(.zero, ContinuousClock.now - due)
            tally.end(.success(lateness + (try await device.ping(over: transport, size: size, timeout: timeout))))
        } catch {
            tally.end(.failure(error))
        }
    }
}

/// What the round trips that are under way at the same time add up to.
private final class Tally: Sendable {
    private struct State {
        var report: LatencyReport
        var underWay = 0
        var failure: ElementalError?
    }

    private let state: Mutex<State>

    init(_ report: LatencyReport) { state = Mutex(State(report: report)) }

    var report: LatencyReport { state.withLock { $0.report } }
    var failure: ElementalError? { state.withLock { $0.failure } }

    /// - Returns: whether one more may be under way; otherwise it counts as lost.
    func begin(atMost most: Int) -> Bool {
        state.withLock { state in
            guard state.underWay < most else {
                state.report.recordLoss()
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
            case .failure(let error) where error.code == .timedOut: state.report.recordLoss()
            case .failure(let error): state.failure = state.failure ?? error
            }
        }
    }
}
