import ElementalSecurity
import ElementalWire
import TestSupport

@testable import Elemental

/// A service and a client that are not paired.
enum Strangers {
    static func with(
        _ policy: SecurityPolicy = .paired,
        _ body: (_ ends: PairedEnds, _ service: ElementalService, _ port: Int, _ secrets: Transcript<PairingSecret>)
            async throws -> Void
    ) async throws {
        let ends = try PairedEnds(nil)
        try ends.clientStore.update { $0.services = [] }
        try await withService {
            $0.security = policy == .open ? .open : ends.serviceSecurity
            // A pairing takes two handshakes, and a host may begin five per second.
            $0.acceptClock = AcceptClock.hurrying()
        } _: { service, port in
            let secrets = Transcript<PairingSecret>()
            service.onEvent { event in
                if case .pairing(.opened(let secret, _, _)) = event { secrets.add(secret) }
            }
            try await body(ends, service, port, secrets)
        }
    }

    static func pair(
        _ ends: PairedEnds, _ port: Int, role: Role = .control, with secret: PairingSecret?
    ) async throws -> TrustedService {
        var options = ConnectOptions.patient
        options.security = ends.clientSecurity
        return try await ServicePlace.address(host: "127.0.0.1", port: port).pair(
            as: "tester", role: role, options: options
        ) { _ in secret }
    }

    static func connect(
        _ ends: PairedEnds, _ port: Int, _ change: (inout ConnectOptions) -> Void = { _ in }
    ) async throws -> ElementalDevice {
        try await ElementalTests.connect(
            port,
            with: {
                $0.security = ends.clientSecurity
                change(&$0)
            })
    }
}
