import Elemental
import Support

/// This client connected to a service.
struct ConnectedEvent: ConsoleEvent {
    let device: String
    let address: String
    var isAgain = false

    init(_ device: ElementalDevice, isAgain: Bool = false) {
        self.device = device.name
        address = device.addressText
        self.isAgain = isAgain
    }

    var isResult: Bool { false }

    var lines: [String] {
        ["connected to \(device)" + (isAgain ? " again" : "") + (device == address ? "" : " at \(address)")]
    }

    var json: JSONText {
        .event(
            isAgain ? "didReconnect" : "connected", [("device", .string(device)), ("address", .string(address))])
    }
}

/// A connection ended, to a service or from a client.
struct DisconnectedEvent: ConsoleEvent {
    let device: String
    let reason: DisconnectReason

    var isResult: Bool { false }

    var lines: [String] { ["\(device) disconnected: \(reason)"] }

    var json: JSONText {
        .event(
            "disconnected",
            [
                ("device", .string(device)), ("reason", .string(reason.description)),
                ("code", .string(reason.code)), ("expected", .bool(reason.isExpected)),
            ])
    }
}

/// The connection was lost, or an attempt to connect again failed; the next attempt follows.
struct WillReconnectEvent: ConsoleEvent {
    let device: String
    let attempt: ReconnectionAttempt
    let delay: Duration

    var isResult: Bool { false }

    var lines: [String] {
        let why = attempt.lastError.map { "\($0)" } ?? "\(attempt.reason)"
        return ["\(device) is away: \(why); attempt \(attempt.number) " + (delay == .zero ? "at once" : "in \(delay)")]
    }

    var json: JSONText {
        .event(
            "willReconnect",
            [
                ("device", .string(device)), ("attempt", .integer(attempt.number)), ("delay", .seconds(delay)),
                ("elapsed", .seconds(attempt.elapsed)), ("reason", .string(attempt.reason.description)),
                ("code", .string(attempt.reason.code)), ("error", .optional(attempt.lastError?.description)),
            ])
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
                    await console.emit(WillReconnectEvent(device: device.name, attempt: attempt, delay: delay))
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
        await console.emit(DisconnectedEvent(device: device.name, reason: reason))
        if !reason.isExpected { throw Self.ended(device, reason) }
    }
}

extension ElementalDevice {
    /// Address and port, or the device's name if the address is not known.
    var addressText: String {
        guard let address, let ip = address.ipAddress, let port = address.port else { return name }
        let host = ip.lowercased().hasPrefix("::ffff:") && ip.contains(".") ? String(ip.dropFirst(7)) : ip
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
