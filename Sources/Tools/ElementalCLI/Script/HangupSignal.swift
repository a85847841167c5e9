@preconcurrency import Dispatch
import Support

/// SIGHUP, by which daemons are told to read their files again. It does not end the program while this exists.
final class HangupSignal: Sendable {
    /// An element for each signal; several that come before the first is taken are one.
    let signals: AsyncStream<Void>
    private let source: any DispatchSourceSignal

    init() {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        #if canImport(Darwin)
        // There a dispatch source does not replace the signal's default action.
        _ = Darwin.signal(SIGHUP, SIG_IGN)
        #endif
        source = DispatchSource.makeSignalSource(
            signal: SIGHUP, queue: DispatchQueue(label: "elemental.hangup"))
        source.setEventHandler { signal.yield() }
        source.resume()
    }

    deinit { source.cancel() }
}
