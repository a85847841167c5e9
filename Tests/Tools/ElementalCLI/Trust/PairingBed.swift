import Elemental
import ElementalSecurity
import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalCLI

/// A service of the test that pairs, and a user with a state directory of its own who runs commands.
struct PairingBed: Sendable {
    static let light = Element<Bool>(1, "Light")

    let service: ElementalService
    /// The name by which Zeroconf finds the service; `nil` if it does not.
    let name: String?
    let port: Int
    /// The state directory of the commands' user, which does not exist at first.
    let state: String
    /// The service's.
    let serviceState: SecurityState
    private let secrets = Locked<[PairingSecret]>([])

    var target: String { name.map { "lamp/\($0)" } ?? "127.0.0.1:\(port)" }

    /// Runs the service on loopback during the body.
    static func with(
        _ policy: SecurityPolicy = .paired, isPublished: Bool = false, isolation: isolated (any Actor)? = #isolation,
        _ body: (PairingBed) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let bed = try await PairingBed(folder, policy, isPublished)
            do {
                try await body(bed)
            } catch {
                await bed.service.stop()
                throw error
            }
            await bed.service.stop()
        }
    }

    private init(_ folder: String, _ policy: SecurityPolicy, _ isPublished: Bool) async throws {
        let wanted = isPublished ? "Lamp \(UUID().uuidString.prefix(8))" : nil
        let published = Locked<String?>(nil)
        state = folder + "/user"
        serviceState = try SecurityState(directory: folder + "/service")
        service = try await Self.start(serviceState, policy, port: PortLease.port(), name: wanted, published: published)
        name = published.withLock { $0 }
        guard let port = service.port else { throw TestSupportError("the service has no port") }
        self.port = port
        try service.send(true, to: Self.light)
        service.onEvent { [secrets] event in
            if case .pairing(.opened(let secret, _, _)) = event { secrets.withLock { $0.append(secret) } }
        }
    }

    /// Starts a service with that identity, which Zeroconf finds if it has a name.
    ///
    /// - Parameter published: the name under which it is published: Avahi may add a number to the wanted one.
    static func start(
        _ state: SecurityState, _ policy: SecurityPolicy, port: Int, name: String? = nil, service: String = "lamp",
        published: Locked<String?> = Locked(nil)
    ) async throws -> ElementalService {
        var configuration = ServiceConfiguration()
        configuration.limits.handshakeTimeout = Patience.wait * 9
        configuration.address = "127.0.0.1"
        configuration.port = PortLease.again(port)
        configuration.isPublished = name != nil
        switch policy {
        case .open: break
        case .pairedToControl:
            configuration.security = .pairedToControl(identity: state.identity, store: state.trust)
        case .paired: configuration.security = .paired(identity: state.identity, store: state.trust)
        }
        let service = ElementalService(
            service, displayName: name ?? "Lamp", elements: [light], configuration: configuration)
        service.onEvent { event in
            if case .published(let name) = event { published.withLock { $0 = name } }
        }
        try await service.start()
        if name != nil { try await eventually { published.withLock { $0 != nil } } }
        return service
    }

    /// Opens a pairing window, and returns what it shows.
    func openWindow(_ kind: PairingSecret.Kind = .code, role: Role = .control) async throws -> String {
        let count = secrets.withLock { $0.count }
        try service.openPairing(role: role, kind)
        try await eventually { secrets.withLock { $0.count } > count }
        return secrets.withLock { $0[$0.count - 1].text }
    }

    func pair() async throws { try await expectSuccess(run("pair", target, input: [try await openWindow()])) }

    /// Runs a command of the user to its end.
    func run(_ arguments: String..., input: [String] = []) async throws -> CommandResult {
        try await run(arguments, input)
    }

    private func run(_ arguments: [String], _ input: [String]) async throws -> CommandResult {
        try await ElementalProcess.run(arguments + ["--state", state, "--timeout", Patience.seconds], input: input)
    }

    /// Runs a command with `--json` that fails, and returns the error's code and message.
    func failure(_ arguments: String..., input: [String] = []) async throws -> (code: String, message: String) {
        let result = try await run(arguments + ["--json"], input)
        let error = result.output.last.flatMap { JSONLine($0) }
        guard let error, error.event == "error", let code: String = error["reason"],
            let message: String = error["message"],
            result.status == .exited(CommandStatus(code: code).rawValue)
        else { throw TestSupportError("no error: \(result)") }
        return (code, message)
    }
}
