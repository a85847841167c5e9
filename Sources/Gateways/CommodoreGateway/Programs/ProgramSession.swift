import Elemental
import NIOCore

/// What a program on the Commodore is connected to: one kind for each kind of address (see ``Addresses``).
///
/// Everything in it happens on the gateway's event loop. It may call its host at any time from ``open()`` until
/// ``end()``; whether a connection that takes its time came about it tells by ``ProgramHost/connected(_:)`` or
/// ``ProgramHost/disconnected(_:)``.
protocol ProgramSession: AnyObject {
    /// What the element ``CommodoreElements/program`` tells.
    var name: String { get }
    /// How the program reads.
    var reading: ProgramReading { get }

    /// Begins to connect.
    func open(at now: NIODeadline)
    /// The program sent a message; the answer to its command.
    func receive(_ message: [UInt8], at now: NIODeadline) -> ModemResult
    /// A client sent a value for the machine.
    func take(_ value: ElementValue, of element: ElementDefinition, from client: String, at now: NIODeadline) -> Taken
    /// When ``wake(at:)`` must be called, or nil if it need not be.
    var wakeTime: NIODeadline? { get }
    /// The time that was asked for has come.
    func wake(at now: NIODeadline)
    /// The program left, or the line was lost. The host is not called from now on.
    func end()
}

/// How a program takes what comes over the line.
enum ProgramReading: Hashable {
    /// One byte a frame, as the chat program does.
    case byteAFrame
    /// As fast as the line brings them.
    case fast
}

/// What became of a value for the machine.
enum Taken: Hashable {
    /// It is queued.
    case queued
    /// The program does not take this element.
    case unwanted
    /// It cannot go, and why.
    case refused(String)
}

/// What a session can do.
protocol ProgramHost: AnyObject {
    /// The connection is there.
    func connected(_ session: any ProgramSession)
    /// The connection did not come about, or is over.
    func disconnected(_ session: any ProgramSession)
    /// Sends data to the machine.
    ///
    /// - Returns: whether there was room.
    func send(_ item: OutputQueue.Item, from session: any ProgramSession) -> Bool
    /// Tells all clients a value.
    func publish(_ value: ElementValue, of element: ElementDefinition)
    /// The elements of the machine. Setting others replaces the service's catalogue.
    var machineElements: [ElementDefinition] { get set }
    /// The newest value of each `latest` element that clients sent, so that a program that connects gets them.
    var state: [Int8: ElementValue] { get }
}
