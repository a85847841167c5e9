import Elemental
import ElementalFollowing
import Support

/// Something that a command writes, as text for a person and as JSON for a program.
///
/// A command declares its events beside itself, a small type each, and passes them to ``Console/emit(_:)``. The JSON forms
/// are documented in the article on the command line.
protocol ConsoleEvent: Sendable {
    /// Whether this is what the command was asked for, and goes to standard output. Everything else, such as progress
    /// and changes of a connection, goes to standard error.
    var isResult: Bool { get }

    /// The event as text, an element a line.
    var lines: [String] { get }

    /// The same with colours for a terminal: ``lines``, unless the event has any.
    var styledLines: [[Styled]] { get }

    /// The event as a JSON object, a ``JSONText/event(_:_:)``.
    var json: JSONText { get }

    /// The event as JSON, an element a line: ``json``, unless the event tells more than one object can.
    var jsonLines: [JSONText] { get }
}

extension ConsoleEvent {
    var styledLines: [[Styled]] { lines.map { [Styled($0)] } }
    var jsonLines: [JSONText] { [json] }
}

/// An event that is made as a whole: its name and keys for programs, and its text for people.
///
/// Commands declare theirs as functions in an extension, `extension ConsoleEvent where Self == Notice`, so that they emit
/// `.stopped(service)`. An event that is written for each value is a type of its own, which makes only the form that is
/// written.
struct Notice: ConsoleEvent {
    let isResult: Bool
    let jsonLines: [JSONText]
    let styledLines: [[Styled]]

    var json: JSONText { jsonLines[0] }
    var lines: [String] { styledLines.map { $0.map(\.text).joined() } }

    init(_ name: String, _ members: JSONText.Members, isResult: Bool = false, _ lines: String...) {
        self.init(name, members, isResult: isResult, lines)
    }

    init(_ name: String, _ members: JSONText.Members, isResult: Bool = false, _ lines: [String]) {
        self.init(name, members, isResult: isResult, styled: lines.map { [Styled($0)] })
    }

    /// - Parameter others: events that tell the rest, where one object cannot.
    init(
        _ name: String, _ members: JSONText.Members, isResult: Bool = false, styled lines: [[Styled]],
        others: [JSONText] = []
    ) {
        self.isResult = isResult
        jsonLines = [.event(name, members)] + others
        styledLines = lines
    }
}

// The keys that events have in common: they mean the same in each.
extension JSONText {
    /// The service that an event is about.
    static func members(_ key: ServiceKey) -> Members { members(key.service, key.name) }

    /// The service that an event is about: its name, `nil` for a host and port, and its instance.
    static func members(_ service: String?, _ instance: String?) -> Members {
        [("service", .optional(service)), ("instance", .optional(instance))]
    }

    /// Why something failed: a code for programs and words for people.
    static func members(_ error: any Error) -> Members {
        let failure = CommandFailure(error)
        return members(failure.code, because: failure.description)
    }

    /// A code, and words; neither if nothing failed.
    static func members(_ reason: String?, because message: String?) -> Members {
        [("reason", .optional(reason)), ("message", .optional(message))]
    }

    /// When the next attempt follows; `nil` if none does.
    static func delay(_ delay: Duration?) -> Members { [("delay", delay.map { .seconds($0) } ?? .null)] }
}

extension ElementalDevice {
    /// The service at the other end.
    var key: ServiceKey { ServiceKey(service: service, name: name) }
}
