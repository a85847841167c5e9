import Elemental
import NIOCore

/// The other end of a program's connection: one kind for each kind of address (see ``Addresses``).
///
/// Used on the gateway's event loop only. It may call its host at any time from ``open()`` until ``end()``; it reports
/// with ``ProgramHost/connected(_:)`` or ``ProgramHost/disconnected(_:)`` whether its connection was opened.
protocol ProgramSession: AnyObject {
    /// The value of the element ``CommodoreElements/program``.
    var name: String { get }
    /// How the program reads its input.
    var reading: ProgramReading { get }

    /// Starts to connect.
    func open(at now: NIODeadline)
    /// Handles a message from the program, and returns the answer to its command.
    func receive(_ message: [UInt8], at now: NIODeadline) -> ModemResult
    /// Handles a client's value for the machine.
    func take(_ value: ElementValue, of element: ElementDefinition, from client: String, at now: NIODeadline) -> Taken
    /// When ``wake(at:)`` must be called, or nil if it need not be.
    var wakeTime: NIODeadline? { get }
    /// The requested time has come.
    func wake(at now: NIODeadline)
    /// The program disconnected, or the line was lost. The host is not called from now on.
    func end()
}

/// How a program reads from the line.
enum ProgramReading: Hashable {
    /// One byte per frame, as the chat program does.
    case byteAFrame
    /// As fast as the line delivers them.
    case fast
}

/// The result of sending a value to the machine.
enum Taken: Hashable {
    /// It is queued.
    case queued
    /// The program does not accept this element.
    case unwanted
    /// It cannot be sent, for the given reason.
    case refused(String)
}

/// What a session can call.
protocol ProgramHost: AnyObject {
    /// The connection was opened.
    func connected(_ session: any ProgramSession)
    /// The connection failed or was closed.
    func disconnected(_ session: any ProgramSession)
    /// Sends data to the machine.
    ///
    /// - Returns: whether there was room.
    func send(_ item: OutputQueue.Item, from session: any ProgramSession) -> Bool
    /// Sends a value to all clients.
    func publish(_ value: ElementValue, of element: ElementDefinition)
    /// The elements of the machine. Setting it replaces the service's catalogue.
    var machineElements: [ElementDefinition] { get set }
    /// The newest value of each `latest` element from clients, for a program that connects later.
    var state: [Int8: ElementValue] { get }
}
