import NIOCore
import Support

/// A connection to a machine over a serial line or a substitute for one. Used on one event loop only.
package protocol Line: AnyObject {
    /// Where the machine is attached, for the user.
    var name: String { get }
    /// Whether bytes may be written now; false while the peer accepts none.
    var isWritable: Bool { get }

    /// Starts to open the line, and reopens it whenever it is lost, until ``stop()``.
    func start(_ handler: any LineHandler)
    /// Sends bytes to the machine. On a line that is not open they are lost.
    func write(_ bytes: [UInt8])
    /// Signals to the machine whether there is a connection, if the line has a signal for that (DCD).
    func setCarrier(_ isOn: Bool)
    func stop()
}

package protocol LineHandler: AnyObject {
    func lineChanged(_ event: LineEvent)
    func lineReceived(_ bytes: ByteBufferView)
    /// The machine's DTR changed.
    func lineTerminalReady(_ isReady: Bool)
    func lineIsWritable()
}

extension LineHandler {
    package func lineTerminalReady(_ isReady: Bool) {}
    package func lineIsWritable() {}
}

/// A change of a gateway's line.
public enum LineEvent: Sendable, CustomStringConvertible {
    /// The line is ready. The text is the place at which to attach a machine, a device or an emulator.
    case ready(String)
    /// The peer is connected.
    case opened
    /// The peer is disconnected. The next attempt follows after the given time; with `nil`, the peer has to connect.
    case lost(String, retryIn: Duration?)
    /// Another host tried to take the line from its connection and was refused. Reported once for each connection.
    case refused(host: String)
    /// The system has closed the listening socket, or it cannot be reopened, for this reason. The next attempt follows
    /// after the delay, and ``ready(_:)`` when the socket is open. An existing connection stays open.
    case notListening(String, retryIn: Duration)

    /// A line for a log: `the line is lost: its device is gone`. Names and reasons from outside are escaped.
    public var description: String {
        let text =
            switch self {
            case .ready(let line): "the line is \(line)"
            case .opened: "the line is open"
            case .lost(let reason, let delay):
                "the line is lost: \(reason)" + (delay.map { "; retrying in \($0)" } ?? "")
            case .refused(let host): "\(host) tried to take the line, which is in use"
            case .notListening(let reason, let delay): "the line does not listen: \(reason); retrying in \(delay)"
            }
        return text.printable
    }
}

extension BackOff {
    /// The delays before a lost line is opened again: half a second, doubled each time, at most 10 s.
    package static var line: BackOff { BackOff(maximum: .seconds(10)) }
}

/// Why a gateway cannot use its line, and what to do.
public struct LineError: Error, CustomStringConvertible {
    /// A text for the user: the reason, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}
