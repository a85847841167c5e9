import Elemental
import Support
import TestSupport
import Testing

@testable import SerialGateway

/// A serial gateway and what happens to it.
final class RunningSerialGateway: GatewayUnderTest {
    let gateway: SerialGateway
    private let log = Transcript<String>()
    private let service = Locked<ElementalService?>(nil)
    private let line = Locked("")

    private init(_ gateway: SerialGateway) {
        self.gateway = gateway
        gateway.onEvent { [log, service, line] event in
            switch event {
            case .line(.ready(let name)): line.withLock { $0 = name }
            case .deviceAppeared(let device): service.withLock { $0 = device }
            case .deviceGone: service.withLock { $0 = nil }
            default: break
            }
            log.add(Self.text(event))
        }
    }

    private static func text(_ event: SerialGatewayEvent) -> String {
        switch event {
        case .line(.ready): "ready"
        case .line(.opened): "opened"
        case .line(.lost): "line lost"
        case .line(.refused(let host)): "refused \(host)"
        case .line(.notListening(let reason, _)): "not listening: \(reason)"
        case .deviceAppeared(let service): "appeared \(service.service)/\(service.displayName)"
        case .deviceReturned(let service): "returned \(service.service)/\(service.displayName)"
        case .deviceLost: "lost"
        case .deviceGone: "gone"
        case .restored(let count): "restored \(count)"
        case .deviceRejected(let reason, let delay): "rejected for \(delay): \(reason)"
        case .keptInMemory(let error): "in memory: \(error)"
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
            try await running.wait(for: "ready")
            try await body(running)
        } catch {
            task.cancel()
            _ = await task.result
            throw error
        }
        task.cancel()
        try await task.value
    }

    var events: [String] { log.all }
    func wait(for event: String) async throws { try await log.next("the event \"\(event)\"") { $0 == event } }

    func wait(forPrefix text: String) async throws {
        try await log.next("an event \"\(text)…\"") { $0.hasPrefix(text) }
    }

    func wait(forSuffix text: String) async throws {
        try await log.next("an event \"…\(text)\"") { $0.hasSuffix(text) }
    }

    /// The device's service while there is one.
    var device: ElementalService? { service.withLock { $0 } }

    var lineName: String { line.withLock { $0 } }

    var port: Int {
        get async throws {
            try await eventually("the service") { self.service.withLock { $0 }?.port != nil }
            return try #require(service.withLock { $0 }?.port)
        }
    }
}
