import Elemental
import NIOCore
import NIOPosix
import SerialLines
import Support

/// The machine's end of a line, for a person: sends typed commands, reports received records.
package final class LineTerminal: Sendable {
    /// An event on the line.
    package enum Event: Sendable {
        case ready(String)
        case opened
        case lost(String, retryIn: Duration?)
        /// A whole record was received.
        case record([UInt8])
        /// The line fell silent in the middle of a record.
        case remains([UInt8])
    }

    private let eventLoop: any EventLoop
    private let end: NIOLoopBound<End>
    private let latch: Latch

    private init(eventLoop: any EventLoop, end: NIOLoopBound<End>, latch: Latch) {
        self.eventLoop = eventLoop
        self.end = end
        self.latch = latch
    }

    /// Opens the line to the modem, or to a gateway in its place, and reports its events.
    ///
    /// - Throws: ``GatewayError`` if it cannot be opened.
    package static func open(
        _ place: LinePlace, _ tell: @escaping @Sendable (Event) -> Void
    ) async throws(GatewayError) -> LineTerminal {
        let eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let line: NIOLoopBound<any Line>
        do throws(LineError) {
            line = try await place.open(on: eventLoop)
        } catch {
            throw GatewayError(error)
        }
        return await eventLoop.run {
            let latch = Latch()
            let end = End(line.value, eventLoop, latch, tell)
            tell(.ready(line.value.name))
            line.value.start(end)
            return LineTerminal(eventLoop: eventLoop, end: NIOLoopBound(end, eventLoop: eventLoop), latch: latch)
        }
    }

    /// Returns when the line is open, or the task was cancelled.
    package func waitUntilOpen() async { await latch.wait() }

    /// Sends bytes unchanged. On a line that is not open they are lost.
    package func send(_ bytes: [UInt8]) { eventLoop.execute { [end] in end.value.line.write(bytes) } }

    /// Closes the line.
    package func close() async {
        await eventLoop.run { [end] in end.value.line.stop() }
    }

    /// The terminal on its event loop.
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

        func lineOpened() {
            tell(.opened)
            latch.open()
        }

        func lineLost(_ reason: String, retryIn delay: TimeAmount?) {
            latch.close()
            tellRemains()
            tell(.lost(reason, retryIn: delay.map { .nanoseconds($0.nanoseconds) }))
        }

        func lineReceived(_ bytes: ByteBufferView) {
            for byte in bytes {
                if let record = parser.receive(byte) { tell(.record(record)) }
            }
            silence?.cancel()
            guard parser.isWaiting else { return }
            silence = eventLoop.assumeIsolated().scheduleTask(in: Self.maximumPause) { [weak self] in
                self?.tellRemains()
            }
        }

        private func tellRemains() {
            if parser.isWaiting { tell(.remains(parser.silence())) }
        }

        func lineTerminalReady(_ isReady: Bool) {}

        func lineIsWritable() {}
    }
}
