import Elemental
import ElementalSecurity
import ElementalWire
import Support

extension ConsoleEvent where Self == Notice {
    /// A pairing window is open, and this is what the client enters.
    ///
    /// - Parameters:
    ///   - role: the most that the client gets.
    ///   - isResult: whether it was asked for.
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

    /// An admin opened the pairing window, and shows there what the client enters.
    static func pairingOpenedByAdmin(_ service: String) -> Notice {
        Notice(
            "pairing", [("service", .string(service)), ("code", .null), ("seconds", .null), ("role", .null)],
            "an admin lets a client pair with \(service)")
    }

    /// The pairing window is closed.
    static func pairingClosed(_ service: String, command: String) -> Notice {
        Notice(
            "pairingClosed", [("service", .string(service))],
            "no more clients can be paired with \(service); to pair another, type here: \(command)")
    }

    /// A client gave the right code and could not be stored.
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
