import ElementalFollowing
import ElementalWire
import SignalR
import Support

/// The state of the connection to a hub changed.
struct HubConnectionEvent: ConsoleEvent {
    enum Change: Sendable {
        case opened(TransportKind?)
        case willReconnect(SignalRError?)
        case didReconnect
        /// It ended without this client asking for it.
        case closed(SignalRError?)
    }

    let url: String
    let change: Change
    /// The service that is bridged over this connection.
    var key: ServiceKey?

    var isResult: Bool { false }

    var lines: [String] {
        let lines =
            switch change {
            case .opened(let transport): ["connected to \(url)" + (transport.map { " over \($0)" } ?? "")]
            case .willReconnect(let error): ["\(url) is away: \(Self.reason(error)); trying again"]
            case .didReconnect: ["connected to \(url) again"]
            case .closed(let error): ["\(url) ended the connection: \(Self.reason(error))"]
            }
        return key.map { key in lines.map { "\(key): \($0)" } } ?? lines
    }

    var json: JSONText {
        switch change {
        case .opened(let transport):
            .event("connected", members + [("transport", .optional(transport.map { "\($0)" }))])
        case .willReconnect(let error): loss("willReconnect", error)
        case .didReconnect: .event("didReconnect", members)
        case .closed(let error): loss("disconnected", error)
        }
    }

    private var members: JSONText.Members {
        [("hub", .string(url))] + (key.map { JSONText.members($0) } ?? [])
    }

    private func loss(_ name: String, _ error: SignalRError?) -> JSONText {
        .event(
            name,
            members + JSONText.members(error?.code.description ?? "closed", because: Self.reason(error)))
    }

    private static func reason(_ error: SignalRError?) -> String { error?.description ?? "in good order" }
}

/// Something came from a hub: a result, an item of a stream, or a call.
struct HubMessageEvent: ConsoleEvent {
    enum Content: Sendable {
        case result(HubValue)
        case item(HubValue)
        case invocation([HubValue])
    }

    let method: String
    let content: Content

    var isResult: Bool { true }

    var lines: [String] {
        switch content {
        case .result(let value), .item(let value): [value.json.text]
        case .invocation(let arguments): [([method] + arguments.map(\.json.text)).joined(separator: " ")]
        }
    }

    var json: JSONText {
        switch content {
        case .result(let value): .event("result", [("method", .string(method)), ("result", value.json)])
        case .item(let value): .event("item", [("method", .string(method)), ("item", value.json)])
        case .invocation(let arguments):
            .event("invocation", [("method", .string(method)), ("arguments", .array(arguments.map(\.json)))])
        }
    }
}

/// A call that is not answered was sent to a hub.
struct HubSentEvent: ConsoleEvent {
    let method: String

    var isResult: Bool { false }

    var lines: [String] { ["sent \(method)"] }

    var json: JSONText { .event("sent", [("method", .string(method))]) }
}

/// A bridge to a hub begins, and this is who controls the service thereby.
struct HubBridgingEvent: ConsoleEvent {
    let key: ServiceKey
    let url: String
    let controls: Bool
    /// What the service has granted; `nil` if the connection is not encrypted.
    let role: Role?

    var isResult: Bool { false }

    var lines: [String] {
        [
            controls
                ? "whoever may call this client's methods through the hub \(url) controls \(key)"
                : "the hub \(url) is told what \(key) says and sets nothing there; --control would let it"
        ]
    }

    var json: JSONText {
        .event(
            "bridging",
            JSONText.members(key) + [
                ("hub", .string(url)), ("control", .bool(controls)), ("role", .optional(role?.rawValue)),
            ])
    }
}
