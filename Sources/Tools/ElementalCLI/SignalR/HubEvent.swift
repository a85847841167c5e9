import SignalR

/// What the commands that talk to a hub have to say.
enum HubEvent: Sendable {
    case opened(url: String, TransportKind?)
    case willReconnect(url: String, SignalRError?)
    case didReconnect(url: String)
    /// It ended, and nobody here asked for it.
    case closed(url: String, SignalRError?)
    /// What a call answered.
    case result(method: String, HubValue)
    case sent(method: String)
    /// An item of a stream.
    case item(method: String, HubValue)
    /// The hub called.
    case invocation(method: String, [HubValue])

    /// Whether it is what the command was asked for, rather than talk about how it goes.
    var isResult: Bool {
        switch self {
        case .result, .item, .invocation: true
        case .opened, .willReconnect, .didReconnect, .closed, .sent: false
        }
    }

    /// In words for a person, a line each.
    var lines: [String] {
        switch self {
        case .opened(let url, let transport): ["connected to \(url)" + (transport.map { " over \($0)" } ?? "")]
        case .willReconnect(let url, let error): ["\(url) is away: \(Self.reason(error)); trying again"]
        case .didReconnect(let url): ["connected to \(url) again"]
        case .closed(let url, let error): ["\(url) ended the connection: \(Self.reason(error))"]
        case .result(_, let value), .item(_, let value): [value.json.text]
        case .sent(let method): ["sent \(method)"]
        case .invocation(let method, let arguments):
            [([method] + arguments.map(\.json.text)).joined(separator: " ")]
        }
    }

    /// As an object of JSON.
    var json: JSONText {
        switch self {
        case .opened(let url, let transport):
            Self.object(
                "connected", [("hub", .string(url)), ("transport", transport.map { .string("\($0)") } ?? .null)])
        case .willReconnect(let url, let error): Self.object("willReconnect", Self.members(url, error))
        case .didReconnect(let url): Self.object("didReconnect", [("hub", .string(url))])
        case .closed(let url, let error): Self.object("disconnected", Self.members(url, error))
        case .result(let method, let value):
            Self.object("result", [("method", .string(method)), ("result", value.json)])
        case .sent(let method): Self.object("sent", [("method", .string(method))])
        case .item(let method, let value): Self.object("item", [("method", .string(method)), ("item", value.json)])
        case .invocation(let method, let arguments):
            Self.object(
                "invocation", [("method", .string(method)), ("arguments", .array(arguments.map(\.json)))])
        }
    }

    private typealias Members = [(key: String, value: JSONText)]

    private static func object(_ event: String, _ members: Members) -> JSONText {
        .object([("event", .string(event))] + members)
    }

    private static func members(_ url: String, _ error: SignalRError?) -> Members {
        [
            ("hub", .string(url)), ("reason", .string(reason(error))),
            ("code", .string(error?.code.description ?? "closed")),
        ]
    }

    private static func reason(_ error: SignalRError?) -> String { error?.description ?? "in good order" }
}
