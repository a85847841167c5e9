import Elemental
import ElementalFollowing
import Support

extension ConsoleEvent where Self == Notice {
    static func connected(_ key: ServiceKey, address: String, isAgain: Bool = false) -> Notice {
        Notice(
            isAgain ? "didReconnect" : "connected", JSONText.members(key) + [("address", .string(address))],
            "connected to \(key.name)" + (isAgain ? " again" : "") + (key.name == address ? "" : " at \(address)"))
    }

    static func disconnected(_ key: ServiceKey, _ reason: DisconnectReason) -> Notice {
        Notice("disconnected", JSONText.members(key) + reason.members, "\(key.name) disconnected: \(reason)")
    }

    /// The connection was lost, or an attempt to connect again failed; the next attempt follows.
    static func willReconnect(_ key: ServiceKey, _ attempt: ReconnectionAttempt, in delay: Duration) -> Notice {
        let (code, cause) =
            attempt.lastError.map { ($0.code.description, "\($0)") } ?? (attempt.reason.code, "\(attempt.reason)")
        let next = "attempt \(attempt.number) " + (delay == .zero ? "at once" : "in \(delay)")
        return Notice(
            "willReconnect",
            JSONText.members(key) + JSONText.members(code, because: cause) + JSONText.delay(delay)
                + [("attempt", .integer(attempt.number)), ("elapsed", .seconds(attempt.elapsed))],
            "\(key.name) is away: \(cause); \(next)")
    }
}

extension DisconnectReason {
    var members: JSONText.Members {
        JSONText.members(code, because: description) + [("expected", .bool(isExpected))]
    }
}

extension Client {
    /// Reports the connection, and its losses and returns while `body` runs.
    func reportingConnection(_ body: () async throws -> Void) async throws {
        await console.emit(.connected(device.key, address: device.addressText))
        guard let events else { return try await body() }
        let reporting = Task {
            for await event in events {
                switch event {
                case .willReconnect(let attempt, let delay):
                    await console.emit(.willReconnect(device.key, attempt, in: delay))
                case .didReconnect:
                    await console.emit(.connected(device.key, address: device.addressText, isAgain: true))
                case .disconnected: break
                }
            }
        }
        defer { reporting.cancel() }
        try await body()
    }

    /// Reports the connection's end.
    func reportEnd() async throws {
        let reason = try await device.waitUntilDisconnected()
        await console.emit(.disconnected(device.key, reason))
        if !reason.isExpected { throw Self.ended(device, reason) }
    }
}

extension ElementalDevice {
    var addressText: String { address?.text ?? name }
}
