import NIOCore
import Support

/// A connection to a machine over a serial line or what stands for one. Used on one event loop only.
package protocol Line: AnyObject {
    /// Where the machine is attached, for people.
    var name: String { get }
    /// Whether bytes may be written now; false while the other end accepts none.
    var isWritable: Bool { get }

    /// Starts to open the line, and reopens it whenever it is lost, until ``stop()``.
    func start(_ handler: any LineHandler)
    /// Sends bytes to the machine. On a line that is not open they are lost.
    func write(_ bytes: [UInt8])
    /// Tells the machine whether there is a connection, if the line has a signal for that (DCD).
    func setCarrier(_ isOn: Bool)
    /// Closes the line for good.
    func stop()
}

/// Receives the events of a line.
package protocol LineHandler: AnyObject {
    /// The machine is connected.
    func lineOpened()
    /// The machine is disconnected.
    ///
    /// - Parameter retryIn: when the next attempt comes; nil if the machine has to connect.
    func lineLost(_ reason: String, retryIn: TimeAmount?)
    /// Another host wanted the line while its connection lives; said once for each of the line's connections.
    func lineRefused(_ host: String)
    /// The system has closed the socket at which the machine connects, or it cannot be opened again. A connection lasts.
    func lineFailedToListen(_ reason: String, retryIn: Duration)
    /// It is open again.
    func lineListens()
    /// Bytes came from the machine.
    func lineReceived(_ bytes: ByteBufferView)
    /// The machine's DTR changed.
    func lineTerminalReady(_ isReady: Bool)
    /// Bytes may be written again.
    func lineIsWritable()
}

extension LineHandler {
    package func lineRefused(_: String) {}
    package func lineFailedToListen(_: String, retryIn: Duration) {}
    package func lineListens() {}
}

extension BackOff {
    /// The delays before a lost line is opened again: half a second, doubled each time, at most 10 s.
    package static var line: BackOff { BackOff(maximum: .seconds(10)) }
}

/// Why a line cannot be opened, and what to do.
package struct LineError: Error, CustomStringConvertible {
    package let description: String
    /// The underlying error, if it is not in the words.
    package let cause: (any Error)?

    package init(_ description: String, cause: (any Error)? = nil) {
        self.description = description
        self.cause = cause
    }
}
