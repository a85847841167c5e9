@preconcurrency import Dispatch
import Support

/// SIGUSR1, and SIGHUP of a daemon, make this program read its files again. If the program has a terminal, SIGHUP means
/// that the terminal is closed, and ends the program.
final class ReloadSignal: Sendable {
    /// An element for each signal. Signals that arrive before the first is taken count as one.
    let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        let terminal = Descriptor.open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        if terminal >= 0 { Descriptor.close(terminal) }
        let queue = DispatchQueue(label: "elemental.reload")
        sources = [SIGUSR1, SIGHUP].map { number in
            #if canImport(Darwin)
            // There a dispatch source does not replace the signal's default action.
            _ = Darwin.signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if number == SIGHUP, terminal >= 0 { EndRequest.shared.noteHangup() } else { signal.yield() }
            }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }
}
