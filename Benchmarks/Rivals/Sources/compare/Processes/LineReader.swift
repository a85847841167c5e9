import Foundation
import Synchronization

/// Reads the lines of a descriptor on a thread of its own, so that no writer has to wait, and records their times.
final class LineReader: Sendable {
    struct Line {
        var text: String
        var time: ContinuousClock.Instant
    }

    enum Next {
        case line(Line)
        case end
        case timeout
    }

    private struct State {
        var lines: [Line] = []
        var taken = 0
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    /// Takes over the descriptor and closes it at its end.
    init(_ descriptor: Int32) {
        Thread.detachNewThread { [self] in
            var unfinished: [UInt8] = []
            var bytes = [UInt8](repeating: 0, count: 16384)
            while true {
                let count = read(descriptor, &bytes, bytes.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                unfinished += bytes[..<count]
                deliver(&unfinished)
            }
            close(descriptor)
            state.withLock { $0.hasEnded = true }
            arrival.signal()
        }
    }

    func next(within seconds: Double) -> Next {
        let deadline = DispatchTime.now() + seconds
        while true {
            let next: Next? = state.withLock { state in
                if state.taken < state.lines.count {
                    state.taken += 1
                    return .line(state.lines[state.taken - 1])
                }
                return state.hasEnded ? .end : nil
            }
            if let next { return next }
            if arrival.wait(timeout: deadline) == .timedOut { return .timeout }
        }
    }

    private func deliver(_ bytes: inout [UInt8]) {
        let time = ContinuousClock.now
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return }
        let lines = bytes[..<last].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        state.withLock { state in
            for line in lines { state.lines.append(Line(text: String(decoding: line, as: UTF8.self), time: time)) }
        }
        bytes.removeSubrange(...last)
        arrival.signal()
    }
}
