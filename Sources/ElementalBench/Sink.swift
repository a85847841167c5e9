import Elemental
import Synchronization

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// Counts what one device sends to a bench service.
final class Sink: Sendable {
    private struct State {
        var report = SinkReport(run: 0)
        var numbers = SequenceCounter()
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Takes in a message; one of another run than the one begun last does not count.
    func take(_ message: Data) {
        guard message.count >= BenchElements.minimumByteCount else { return }
        let (run, number) = message.withUnsafeBytes { bytes in
            (
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)),
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            )
        }
        let now = ContinuousClock.now
        state.withLock { state in
            guard run == state.report.run else { return }
            if state.first == nil { state.first = now }
            state.last = now
            if state.numbers.take(number) { state.report.bytes += message.count }
        }
    }

    /// The report of the run; the first time that a run is asked for begins it.
    func report(of run: UInt32) -> SinkReport {
        state.withLock { state in
            if run != state.report.run {
                state = State()
                state.report.run = run
            }
            state.report.messages = state.numbers.count
            state.report.repeated = state.numbers.repeated
            state.report.disordered = state.numbers.disordered
            if let first = state.first, let last = state.last { state.report.seconds = (last - first) / .seconds(1) }
            return state.report
        }
    }
}
