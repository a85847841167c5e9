import NIOCore
import Support

/// A way to the machine. Everything in it happens on the gateway's event loop.
protocol Line: AnyObject {
    /// Where the machine is attached, for people.
    var name: String { get }
    /// Whether bytes may be written now; false while the other end accepts none.
    var isWritable: Bool { get }

    /// Begins to open the line, and opens it again whenever it is lost, until ``stop()``.
    func start(_ handler: any LineHandler)
    /// Sends bytes to the machine. On a line that is not open they are lost.
    func write(_ bytes: [UInt8])
    /// Tells the machine whether there is a connection, where the line has a wire for that (DCD).
    func setCarrier(_ isOn: Bool)
    /// Closes the line for good.
    func stop()
}

/// Who has a line, and is told what happens on it.
protocol LineHandler: AnyObject {
    /// The machine is there.
    func lineOpened()
    /// The machine is gone.
    ///
    /// - Parameter retryIn: when the next attempt comes; nil if it is the machine's turn.
    func lineLost(_ reason: String, retryIn: TimeAmount?)
    /// Bytes came from the machine.
    func lineReceived(_ bytes: ByteBufferView)
    /// The machine's DTR changed.
    func lineTerminalReady(_ isReady: Bool)
    /// Bytes may be written again.
    func lineIsWritable()
}

extension BackOff {
    /// The delays before a lost line is opened again: half a second, doubled each time, at most 10 s.
    static var line: BackOff { BackOff(maximum: .seconds(10)) }
}
