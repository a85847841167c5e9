import Elemental
import ElementalSecurity
import ElementalWire
import Support

extension ConsoleEvent where Self == Notice {
    /// This process's service listens.
    static func listening(_ service: String, port: Int, maximumDevices: Int, policy: SecurityPolicy) -> Notice {
        Notice(
            "listening",
            [
                ("service", .string(service)), ("port", .integer(port)),
                ("maximumDevices", .integer(maximumDevices)), ("security", .string(policy.rawValue)),
            ],
            "\(service) listens at port \(port)")
    }

    /// The service was published by Zeroconf.
    static func published(_ service: String, name: String, port: Int) -> Notice {
        Notice(
            "published", JSONText.members(service, name) + [("port", .integer(port))],
            "published as \(service)/\(name) at port \(port)")
    }

    /// The service has stopped.
    static func stopped(_ service: String) -> Notice {
        Notice("stopped", [("service", .string(service))], "\(service) has ended")
    }
}

/// The service is not published, or a socket that it listens on was closed; the next attempt follows.
struct ServiceRetryEvent: ConsoleEvent {
    enum Purpose { case publishing, listening }

    let service: String
    let purpose: Purpose
    let error: ElementalError
    let delay: Duration

    var isResult: Bool { false }

    var lines: [String] {
        let problem = purpose == .publishing ? "is not published" : "does not listen"
        return ["\(service) \(problem): \(error.message); next attempt in \(delay)"]
    }

    var json: JSONText {
        .event(
            purpose == .publishing ? "publishFailed" : "listenFailed",
            [("service", .string(service))] + JSONText.members(error) + JSONText.delay(delay))
    }
}

/// The service cannot read whom it trusts, or can again.
struct TrustEvent: ConsoleEvent {
    let service: String
    /// What is wrong and what to do; `nil` if it can be read again.
    let error: ElementalError?

    var isResult: Bool { false }

    var lines: [String] { [error?.message ?? "'\(service)' can read whom it trusts again"] }

    var json: JSONText {
        .event(
            error == nil ? "trustAvailable" : "trustUnavailable",
            [("service", .string(service))] + (error.map { JSONText.members($0) } ?? []))
    }
}

/// A socket that a program listens on at a port was closed or cannot be opened again, or is open again.
struct PortEvent: ConsoleEvent {
    let port: Int
    let event: KeptChannel.Event

    var isResult: Bool { false }

    var lines: [String] {
        switch event {
        case .lost(_, let delay):
            ["port \(port) is not listened on: \(event.reason ?? ""); next attempt in \(delay)"]
        case .restored: ["port \(port) is listened on again"]
        }
    }

    var json: JSONText {
        let members: JSONText.Members = [("port", .integer(port))]
        return switch event {
        case .lost(_, let delay):
            .event(
                "listenFailed",
                members + JSONText.members("listeningFailed", because: event.reason) + JSONText.delay(delay))
        case .restored: .event("listening", members)
        }
    }
}

/// A client connected to the service.
struct ClientConnectedEvent: ConsoleEvent {
    let service: String
    let client: String
    let address: String
    let role: Role
    /// The identity that it has proven; `nil` for a client that is not paired.
    let fingerprint: Fingerprint?

    var isResult: Bool { false }

    var lines: [String] {
        ["\(client) connected from \(address)" + (fingerprint == nil ? "" : ", with the role \(role.rawValue)")]
    }

    var json: JSONText {
        .event(
            "connected",
            [
                ("service", .string(service)), ("client", .string(client)), ("address", .string(address)),
                ("role", .string(role.rawValue)),
                ("fingerprint", .optional(fingerprint.map { "\($0)" })),
            ])
    }
}

extension ClientConnectedEvent {
    init(_ device: ElementalDevice, to service: String) {
        self.service = service
        client = device.name
        address = device.addressText
        role = device.grantedRole ?? .plain
        fingerprint = device.fingerprint
    }
}

/// A client of the service is not connected any more.
struct ClientDisconnectedEvent: ConsoleEvent {
    let service: String
    let client: String
    let reason: DisconnectReason

    var isResult: Bool { false }

    var lines: [String] { ["\(client) disconnected: \(reason)"] }

    var json: JSONText {
        .event("disconnected", [("service", .string(service)), ("client", .string(client))] + reason.members)
    }
}

/// A client set an element.
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
