import Elemental
import Support
import TestSupport
import Testing

@testable import SerialGateway

/// A gateway on loopback, unpublished, and what happens to it.
final class RunningSerialGateway: Sendable {
    let gateway: SerialGateway
    private let log = Locked<[String]>([])
    private let service = Locked<ElementalService?>(nil)
    private let line = Locked("")

    private init(_ gateway: SerialGateway) {
        self.gateway = gateway
        gateway.onEvent { [log, service, line] event in
            switch event {
            case .lineReady(let name): line.withLock { $0 = name }
            case .deviceAppeared(let device): service.withLock { $0 = device }
            case .deviceGone: service.withLock { $0 = nil }
            default: break
            }
            log.withLock { $0.append(Self.text(event)) }
        }
    }

    private static func text(_ event: SerialGatewayEvent) -> String {
        switch event {
        case .lineReady: "ready"
        case .lineOpened: "opened"
        case .lineLost: "line lost"
        case .deviceAppeared(let service): "appeared \(service.service)/\(service.displayName)"
        case .deviceReturned(let service): "returned \(service.service)/\(service.displayName)"
        case .deviceLost: "lost"
        case .deviceGone: "gone"
        case .restored(let count): "restored \(count)"
        case .deviceRejected(let reason, let delay): "rejected for \(delay): \(reason)"
        case .problem(let reason): "problem: \(reason)"
        }
    }

    /// Runs `body` with a gateway, which ends after it.
    static func with(
        _ line: SerialLine, _ change: (inout SerialGatewayConfiguration) -> Void = { _ in },
        _ body: (RunningSerialGateway) async throws -> Void
    ) async throws {
        var configuration = SerialGatewayConfiguration()
        configuration.service.address = "127.0.0.1"
        configuration.service.isPublished = false
        change(&configuration)
        let running = RunningSerialGateway(SerialGateway(line: line, configuration: configuration))
        let task = Task { try await running.gateway.run() }
        do {
            try await eventually("the line") { running.events.contains("ready") }
            try await body(running)
        } catch {
            task.cancel()
            _ = await task.result
            throw error
        }
        task.cancel()
        try await task.value
    }

    /// What happened.
    var events: [String] { log.withLock { $0 } }

    /// Waits for an event.
    func wait(for event: String) async throws {
        do {
            try await eventually(event) { self.events.contains(event) }
        } catch {
            throw TestSupportError("no \"\(event)\" among \(events)")
        }
    }

    /// Where the device is to be attached.
    var lineName: String { line.withLock { $0 } }

    /// The port of a line that listens.
    var linePort: Int {
        get throws { try #require(lineName.split(separator: ":").last.flatMap { Int($0) }) }
    }

    /// The port of the service, once it runs.
    var port: Int {
        get async throws {
            try await eventually("the service") { self.service.withLock { $0 }?.port != nil }
            return try #require(service.withLock { $0 }?.port)
        }
    }

    /// A client that has the catalogue.
    func client(_ name: String = "tester", reconnects: Bool = false) async throws -> ElementalDevice {
        var options = ConnectOptions()
        options.expectsHello = true
        options.timeout = .seconds(20)
        return try await ElementalDevice.connect(
            host: "127.0.0.1", port: try await port, as: name, elements: nil, options: options)
    }
}
