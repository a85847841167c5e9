import Elemental
import ElementalSecurity
import ElementalWire
import Support

/// A pairing window is open, and this is what the client enters.
struct PairingOpenedEvent: ConsoleEvent {
    let service: String
    let secret: PairingSecret
    /// How long it stays open, if nobody pairs before.
    let time: Duration
    /// The most that the client gets.
    let role: Role
    /// What to type at the client.
    let command: String
    /// Whether it was asked for.
    var isResult = false

    private var seconds: Int { Int(time.rounded.components.seconds) }

    var lines: [String] {
        let what = secret.kind == .code ? "code" : "secret"
        let minutes = seconds / 60
        let span = seconds % 60 == 0 && minutes > 0 ? "\(minutes) min" : "\(seconds) s"
        return [
            "one client can be paired with \(service) within \(span), with the role \(role.rawValue); type there: \(command)",
            "and then the \(what): \(secret.text)",
        ]
    }

    var json: JSONText {
        .event(
            "pairing",
            [
                ("service", .string(service)),
                (secret.kind == .code ? "code" : "secret", .string(secret.text)),
                ("seconds", .integer(seconds)), ("role", .string(role.rawValue)),
            ])
    }
}

extension Duration {
    /// Whole seconds.
    fileprivate var rounded: Duration { .seconds((self / .seconds(1)).rounded()) }
}

/// An admin opened the pairing window, and shows there what the client enters.
struct PairingOpenedByAdminEvent: ConsoleEvent {
    let service: String

    var isResult: Bool { false }

    var lines: [String] { ["an admin lets a client pair with \(service)"] }

    var json: JSONText {
        .event("pairing", [("service", .string(service)), ("code", .null), ("seconds", .null), ("role", .null)])
    }
}

/// The pairing window is closed.
struct PairingClosedEvent: ConsoleEvent {
    let service: String
    /// What opens it again.
    let command: String

    var isResult: Bool { false }

    var lines: [String] { ["no more clients can be paired with \(service); to pair another, type here: \(command)"] }

    var json: JSONText { .event("pairingClosed", [("service", .string(service))]) }
}

/// A client gave the right code and could not be stored.
struct PairingFailedEvent: ConsoleEvent {
    let service: String
    let client: String
    let error: ElementalError

    var isResult: Bool { false }

    var lines: [String] { [error.message] }

    var json: JSONText {
        .event(
            "pairingFailed",
            [("service", .string(service)), ("client", .string(client))] + JSONText.members(error))
    }
}

/// A client has paired with the service.
struct ClientPairedEvent: ConsoleEvent {
    let service: String
    let client: TrustedClient

    private var role: String { client.role?.rawValue ?? "" }

    var isResult: Bool { false }

    var lines: [String] {
        ["'\(client.name)' is paired with \(service), with the role \(role); its fingerprint is \(client.fingerprint)"]
    }

    var json: JSONText {
        .event(
            "paired",
            [
                ("service", .string(service)), ("client", .string(client.name)),
                ("fingerprint", .string("\(client.fingerprint)")), ("role", .string(role)),
            ])
    }
}
