import Elemental
import NIOCore

/// The peer of a program's connection: one kind for each kind of address.
///
/// Used on the gateway's event loop only. It may call its modem at any time from ``open(at:)`` until ``end()``; it reports
/// with ``Modem/connected(_:)`` or ``Modem/disconnected(_:)`` whether its connection was opened.
protocol ProgramSession: AnyObject {
    /// The value of the element ``CommodoreElements/program``.
    var name: String { get }
    /// Whether the program reads as fast as the line delivers, rather than one byte per frame.
    var readsFast: Bool { get }
    var modem: Modem { get }

    func open(at now: NIODeadline)
    func receive(_ message: [UInt8], at now: NIODeadline) -> ModemResult
    func take(_ value: ElementValue, of element: ElementDefinition, from client: String, at now: NIODeadline) -> Taken
    /// When ``wake(at:)`` must be called, or nil if it need not be.
    var wakeTime: NIODeadline? { get }
    func wake(at now: NIODeadline)
    /// Ends the session: the program disconnected, or the line was lost. It must not call the modem after that.
    func end()
}

extension ProgramSession {
    var readsFast: Bool { false }
    var wakeTime: NIODeadline? { nil }

    func wake(at now: NIODeadline) {}
    func end() {}
}

/// The result of sending a value to the machine.
enum Taken: Hashable {
    case queued
    /// The program does not accept this element.
    case unwanted
    /// It cannot be sent, for the given reason.
    case refused(String)

    static let queueFull = Taken.refused("the queue for the machine is full")
}
