import Elemental
import NIOCore
import NIOPosix
import SerialLines
import Support

/// The machine's end of a line, for the user: sends typed commands, reports received records.
package struct LineTerminal: Sendable {
    package enum Event: Sendable {
        case line(LineEvent)
        /// A record was received. The line may have fallen silent in the middle of it.
        case record([UInt8], isWhole: Bool)
    }

    private let eventLoop: any EventLoop
    private let end: NIOLoopBound<End>
    private let latch: Latch

    /// Opens the line to the modem, or to a gateway in its place, and reports its events.
    package static func open(
        _ place: LinePlace, _ tell: @escaping @Sendable (Event) -> Void
    ) async throws(GatewayError) -> LineTerminal {
        let eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let line = try await place.line(on: eventLoop)
        return await eventLoop.run {
            let latch = Latch()
            let end = End(line.value, eventLoop, latch, tell)
            line.value.start(end)
            return LineTerminal(eventLoop: eventLoop, end: NIOLoopBound(end, eventLoop: eventLoop), latch: latch)
        }
    }

    /// Returns when the line is open, or the task was cancelled.
    package func waitUntilOpen() async { await latch.wait() }

    /// Sends bytes unchanged. On a line that is not open they are lost.
    package func send(_ bytes: [UInt8]) { eventLoop.execute { [end] in end.value.line.write(bytes) } }

    package func close() async { await eventLoop.run { [end] in end.value.line.stop() } }

    private final class End: LineHandler {
        let line: any Line
        private let eventLoop: any EventLoop
        private let latch: Latch
        private let tell: @Sendable (Event) -> Void
        private var parser = ResultParser()
        private var silence: Scheduled<Void>?

        /// Longer than the pauses within a record that is paced to one byte per frame.
        private static let maximumPause = TimeAmount.milliseconds(500)

        init(
            _ line: any Line, _ eventLoop: any EventLoop, _ latch: Latch, _ tell: @escaping @Sendable (Event) -> Void
        ) {
            self.line = line
            self.eventLoop = eventLoop
            self.latch = latch
            self.tell = tell
        }

        func lineChanged(_ event: LineEvent) {
            if case .opened = event { latch.open() }
            if case .lost = event {
                latch.close()
                tellRemains()
            }
            tell(.line(event))
        }

        func lineReceived(_ bytes: ByteBufferView) {
            for byte in bytes {
                if let record = parser.receive(byte) { tell(.record(record, isWhole: true)) }
            }
            silence?.cancel()
            guard parser.isWaiting else { return }
            silence = eventLoop.assumeIsolated().scheduleTask(in: Self.maximumPause) { [weak self] in
                self?.tellRemains()
            }
        }

        private func tellRemains() {
            if parser.isWaiting { tell(.record(parser.silence(), isWhole: false)) }
        }
    }
}
