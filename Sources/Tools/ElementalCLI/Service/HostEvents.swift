import Elemental
import ElementalSecurity
import ElementalWire
import Support

extension ConsoleEvent where Self == Notice {
    static func listening(_ service: String, port: Int, maximumDevices: Int, policy: SecurityPolicy) -> Notice {
        Notice(
            "listening",
            [
                ("service", .string(service)), ("port", .integer(port)),
                ("maximumDevices", .integer(maximumDevices)), ("security", .string(policy.rawValue)),
            ],
            "\(service) listens at port \(port)")
    }

    static func published(_ service: String, name: String, port: Int) -> Notice {
        Notice(
            "published", JSONText.members(service, name) + [("port", .integer(port))],
            "published as \(service)/\(name) at port \(port)")
    }

    static func stopped(_ service: String) -> Notice {
        Notice("stopped", [("service", .string(service))], "\(service) has ended")
    }

    /// The service is not published, or a socket that it listens on was closed; the next attempt follows.
    static func retrying(_ service: String, publishing: Bool, _ error: ElementalError, in delay: Duration) -> Notice {
        Notice(
            publishing ? "publishFailed" : "listenFailed",
            [("service", .string(service))] + JSONText.members(error) + JSONText.delay(delay),
            "\(service) \(publishing ? "is not published" : "does not listen"): \(error.message); retrying in \(delay)"
        )
    }

    static func trustUnavailable(_ service: String, _ error: ElementalError) -> Notice {
        Notice("trustUnavailable", [("service", .string(service))] + JSONText.members(error), error.message)
    }

    static func trustAvailable(_ service: String) -> Notice {
        Notice("trustAvailable", [("service", .string(service))], "'\(service)' can read its trusted clients again")
    }

    static func historyUnavailable(_ service: String, _ error: SecurityError) -> Notice {
        Notice(
            "historyUnavailable",
            [("service", .string(service))] + JSONText.members(error),
            "'\(service)' keeps new values in memory only: \(error.message)")
    }

    static func historyAvailable(_ service: String) -> Notice {
        Notice("historyAvailable", [("service", .string(service))], "'\(service)' keeps values in files again")
    }

    /// A listening socket was closed, cannot be opened again, or is open again.
    static func port(_ port: Int, _ event: KeptChannel.Event) -> Notice {
        let members: JSONText.Members = [("port", .integer(port))]
        return switch event {
        case .lost(_, let delay):
            Notice(
                "listenFailed",
                members + JSONText.members("listeningFailed", because: event.reason) + JSONText.delay(delay),
                "port \(port) is closed: \(event.reason ?? ""); retrying in \(delay)")
        case .restored: Notice("listening", members, "port \(port) is open again")
        }
    }

    /// - Parameter fingerprint: the client's proven identity; `nil` for a client that is not paired.
    static func clientConnected(
        _ service: String, client: String, address: String, role: Role, fingerprint: Fingerprint?
    ) -> Notice {
        Notice(
            "connected",
            [
                ("service", .string(service)), ("client", .string(client)), ("address", .string(address)),
                ("role", .string(role.rawValue)), ("fingerprint", .optional(fingerprint.map { "\($0)" })),
            ],
            "\(client) connected from \(address)" + (fingerprint == nil ? "" : ", with the role \(role.rawValue)"))
    }

    static func clientDisconnected(_ service: String, client: String, _ reason: DisconnectReason) -> Notice {
        Notice(
            "disconnected", [("service", .string(service)), ("client", .string(client))] + reason.members,
            "\(client) disconnected: \(reason)")
    }
}

struct ClientValueEvent: ConsoleEvent {
    let arrived: ArrivedValue
    let service: String
    let client: String

    var isResult: Bool { true }

    var lines: [String] { ["\(arrived.element.briefLine(arrived.value))  from \(client)"] }

    var json: JSONText {
        .event("value", [("service", .string(service)), ("client", .string(client))] + arrived.members)
    }
}

extension ConsoleEvent where Self == Notice {
    /// A pairing window is open. The user enters the secret at the client, which gets at most this role.
    static func pairingOpened(
        _ service: String, _ secret: PairingSecret, for time: Duration, role: Role, command: String,
        isResult: Bool = false
    ) -> Notice {
        let seconds = Int((time / .seconds(1)).rounded())
        let span = seconds % 60 == 0 && seconds > 0 ? "\(seconds / 60) min" : "\(seconds) s"
        let what = secret.kind == .code ? "code" : "secret"
        return Notice(
            "pairing",
            [
                ("service", .string(service)), (what, .string(secret.text)), ("seconds", .integer(seconds)),
                ("role", .string(role.rawValue)),
            ], isResult: isResult,
            "one client can be paired with \(service) within \(span), with the role \(role.rawValue); type there: \(command)",
            "and then the \(what): \(secret.text)")
    }

    /// An admin has opened the pairing window. The admin's program shows the code.
    static func pairingOpenedByAdmin(_ service: String) -> Notice {
        Notice(
            "pairing", [("service", .string(service)), ("code", .null), ("seconds", .null), ("role", .null)],
            "an admin lets a client pair with \(service)")
    }

    /// The pairing window is closed.
    static func pairingClosed(_ service: String, command: String) -> Notice {
        Notice(
            "pairingClosed", [("service", .string(service))],
            "pairing with \(service) is closed; to pair another client, type here: \(command)")
    }

    /// A client gave the right code but could not be stored.
    static func pairingFailed(_ service: String, client: String, _ error: ElementalError) -> Notice {
        Notice(
            "pairingFailed", [("service", .string(service)), ("client", .string(client))] + JSONText.members(error),
            error.message)
    }

    static func clientPaired(_ service: String, _ client: TrustedClient) -> Notice {
        let role = client.role?.rawValue ?? ""
        return Notice(
            "paired",
            [
                ("service", .string(service)), ("client", .string(client.name)),
                ("fingerprint", .string("\(client.fingerprint)")), ("role", .string(role)),
            ],
            "'\(client.name)' is paired with \(service), with the role \(role); its fingerprint is \(client.fingerprint)"
        )
    }
}
