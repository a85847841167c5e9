import ElementalFollowing
import ElementalWire
import SignalR
import Support

extension ConsoleEvent where Self == Notice {
    static func hub(
        _ url: String, _ event: ConnectionEvent, over transport: TransportKind? = nil, _ key: ServiceKey? = nil
    ) -> Notice {
        func reason(_ error: SignalRError?) -> String { error?.description ?? "in good order" }
        func members(_ error: SignalRError?) -> JSONText.Members {
            JSONText.members(error?.code.description ?? "closed", because: reason(error))
        }
        let (name, others, line): (String, JSONText.Members, String) =
            switch event {
            case .opened, .failedToOpen:
                (
                    "connected", [("transport", .optional(transport.map { "\($0)" }))],
                    "connected to \(url)" + (transport.map { " over \($0)" } ?? "")
                )
            case .willReconnect(let error):
                ("willReconnect", members(error), "\(url) is not connected: \(reason(error)); retrying")
            case .didReconnect: ("didReconnect", [], "connected to \(url) again")
            case .closed(let error): ("disconnected", members(error), "\(url) ended the connection: \(reason(error))")
            }
        return Notice(
            name, [("hub", .string(url))] + (key.map { JSONText.members($0) } ?? []) + others,
            (key.map { "\($0): " } ?? "") + line)
    }

    static func sentCall(_ method: String) -> Notice { Notice("sent", [("method", .string(method))], "sent \(method)") }

    /// - Parameter role: the role that the service has granted; `nil` if the connection is not encrypted.
    static func bridging(_ key: ServiceKey, to url: String, controls: Bool, _ role: Role?) -> Notice {
        Notice(
            "bridging",
            JSONText.members(key) + [
                ("hub", .string(url)), ("control", .bool(controls)), ("role", .optional(role?.rawValue)),
            ],
            controls
                ? "every client that may call this client's methods through the hub \(url) controls \(key)"
                : "the hub \(url) receives values of \(key) and cannot set any; to allow this, give --control")
    }
}

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
