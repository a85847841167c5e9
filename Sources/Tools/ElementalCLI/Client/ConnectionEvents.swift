import Elemental
import ElementalFollowing
import Support

/// This client connected to a service.
struct ConnectedEvent: ConsoleEvent {
    let key: ServiceKey
    let address: String
    var isAgain = false

    var isResult: Bool { false }

    var lines: [String] {
        ["connected to \(key.name)" + (isAgain ? " again" : "") + (key.name == address ? "" : " at \(address)")]
    }

    var json: JSONText {
        .event(
            isAgain ? "didReconnect" : "connected", JSONText.members(key) + [("address", .string(address))])
    }
}

extension ConnectedEvent {
    init(_ device: ElementalDevice, isAgain: Bool = false) {
        key = device.key
        address = device.addressText
        self.isAgain = isAgain
    }
}

/// The connection to a service ended.
struct DisconnectedEvent: ConsoleEvent {
    let key: ServiceKey
    let reason: DisconnectReason

    var isResult: Bool { false }

    var lines: [String] { ["\(key.name) disconnected: \(reason)"] }

    var json: JSONText {
        .event("disconnected", JSONText.members(key) + reason.members)
    }
}

extension DisconnectReason {
    /// Why a connection ended, and whether one of its ends asked for that.
    var members: JSONText.Members {
        JSONText.members(code, because: description) + [("expected", .bool(isExpected))]
    }
}

/// The connection was lost, or an attempt to connect again failed; the next attempt follows.
struct WillReconnectEvent: ConsoleEvent {
    let key: ServiceKey
    let attempt: ReconnectionAttempt
    let delay: Duration

    var isResult: Bool { false }

    /// Why the last attempt failed, or the connection was lost.
    private var cause: (code: String, text: String) {
        guard let error = attempt.lastError else { return (attempt.reason.code, "\(attempt.reason)") }
        return (error.code.description, "\(error)")
    }

    var lines: [String] {
        let next = "attempt \(attempt.number) " + (delay == .zero ? "at once" : "in \(delay)")
        return ["\(key.name) is away: \(cause.text); \(next)"]
    }

    var json: JSONText {
        .event(
            "willReconnect",
            JSONText.members(key) + JSONText.members(cause.code, because: cause.text) + JSONText.delay(delay)
                + [("attempt", .integer(attempt.number)), ("elapsed", .seconds(attempt.elapsed))])
    }
}

extension Client {
    /// Reports the connection, and its losses and returns while `body` runs.
    func reportingConnection(_ console: Console, _ body: () async throws -> Void) async throws {
        await console.emit(ConnectedEvent(device))
        guard let events else { return try await body() }
        let reporting = Task {
            for await event in events {
                switch event {
                case .willReconnect(let attempt, let delay):
                    await console.emit(WillReconnectEvent(key: device.key, attempt: attempt, delay: delay))
                case .didReconnect: await console.emit(ConnectedEvent(device, isAgain: true))
                case .disconnected: break
                }
            }
        }
        defer { reporting.cancel() }
        try await body()
    }

    /// Reports the connection's end.
    ///
    /// - Throws: ``CommandFailure`` if it was not expected.
    func reportEnd(_ console: Console) async throws {
        let reason = try await device.waitUntilDisconnected()
        await console.emit(DisconnectedEvent(key: device.key, reason: reason))
        if !reason.isExpected { throw Self.ended(device, reason) }
    }
}

extension ElementalDevice {
    /// Address and port, or the device's name if the address is not known.
    var addressText: String { address?.text ?? name }
}
