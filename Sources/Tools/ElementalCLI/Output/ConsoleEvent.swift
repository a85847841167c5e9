import Elemental
import ElementalFollowing
import Support

/// An output of a command, as text for the user and as JSON for programs.
///
/// A command declares its events beside itself, a small type each, and passes them to ``Console/emit(_:)``. The JSON forms
/// are documented in the article on the command line.
protocol ConsoleEvent: Sendable {
    /// Whether this is a result of the command, which goes to standard output. Everything else, such as progress and
    /// changes of a connection, goes to standard error.
    var isResult: Bool { get }

    /// The event as text, an element a line.
    var lines: [String] { get }

    /// The same with colours for a terminal: ``lines``, unless the event has any.
    var styledLines: [[Styled]] { get }

    /// The event as a JSON object, a ``JSONText/event(_:_:)``.
    var json: JSONText { get }

    /// The event as JSON, an element a line: ``json``, unless the event needs several objects.
    var jsonLines: [JSONText] { get }
}

extension ConsoleEvent {
    var styledLines: [[Styled]] { lines.map { [Styled($0)] } }
    var jsonLines: [JSONText] { [json] }
}

/// An event whose forms are made together: its name and keys for programs, and its text for the user.
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

    /// - Parameter others: further JSON objects, if one cannot contain everything.
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

    /// Why something failed: a reason code and a message.
    static func members(_ error: any Error) -> Members {
        let failure = CommandFailure(error)
        return members(failure.code, because: failure.description)
    }

    /// A reason code and a message; both are `nil` if nothing failed.
    static func members(_ reason: String?, because message: String?) -> Members {
        [("reason", .optional(reason)), ("message", .optional(message))]
    }

    /// When the next attempt follows; `nil` if none does.
    static func delay(_ delay: Duration?) -> Members { [("delay", delay.map { .seconds($0) } ?? .null)] }
}

extension ElementalDevice {
    /// The service of the connection.
    var key: ServiceKey { ServiceKey(service: service, name: name) }
}
