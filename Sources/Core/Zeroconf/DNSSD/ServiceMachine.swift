/// A state machine without sockets, threads or clocks: it takes an input and returns the actions to perform.
///
/// ``MachineDriver`` runs it: opens and closes references, runs its timers, delivers its events to the consumers.
protocol ServiceMachine: Sendable {
    /// An event that consumers receive.
    associatedtype Event: Sendable

    mutating func handle(_ input: MachineInput) -> [MachineAction<Event>]

    /// The events that bring a new consumer up to date.
    func replay() -> [Event]

    /// Whether the list is complete for now. Surveys then end.
    var isSurveyed: Bool { get }
}

extension ServiceMachine {
    var isSurveyed: Bool { false }
}

/// Names a reference within one machine; never used twice.
struct ReferenceID: Hashable, Sendable {
    let number: Int
}

/// Names a timer within one machine; never reused, so that a late expiry can be recognised by its number.
struct TimerID: Hashable, Sendable {
    let number: Int
}

enum MachineInput: Sendable {
    /// A consumer was added, perhaps one of several.
    case start
    /// A consumer was added whose stream ends when the list is complete (``ServiceMachine/isSurveyed``).
    case survey
    /// The last consumer has gone, or the driver ends: close everything, forget everything.
    case stop
    case update(TXTRecord)
    case reference(ReferenceID, ReferenceEvent)
    case timer(TimerID)
}

enum MachineAction<Event: Sendable>: Sendable {
    case open(ReferenceID, ServiceRequest)
    case close(ReferenceID)
    case updateTXT(ReferenceID, [UInt8])
    case startTimer(TimerID, Duration)
    case cancelTimer(TimerID)
    case emit(Event)
    case log(LogEntry)
}

/// A line for the caller's logger: the library prints nothing by itself.
struct LogEntry: Sendable {
    let message: String
    let isWarning: Bool

    static func debug(_ message: String) -> LogEntry { LogEntry(message: message, isWarning: false) }
    static func warning(_ message: String) -> LogEntry { LogEntry(message: message, isWarning: true) }
}

/// Generates the numbers of references and timers.
struct IDGenerator: Sendable {
    private var last = 0

    mutating func reference() -> ReferenceID {
        last += 1
        return ReferenceID(number: last)
    }

    mutating func timer() -> TimerID {
        last += 1
        return TimerID(number: last)
    }
}
