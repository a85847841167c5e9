import ElementalSecurity
import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// Pairing over a connection.
struct PairedByCodeTests {
    /// A service and a client that are not paired.
    private static func withStrangers(
        _ body: (_ ends: PairedEnds, _ service: ElementalService, _ port: Int, _ secrets: Gathered<PairingSecret>)
            async throws -> Void
    ) async throws {
        let ends = try PairedEnds(nil)
        try ends.clientStore.update { $0.services = [] }
        try await withService {
            $0.security = ends.serviceSecurity
        } _: { service, port in
            let secrets = Gathered<PairingSecret>()
            service.onEvent { event in
                if case .pairing(.opened(let secret, _, _)) = event { secrets.add(secret) }
            }
            try await body(ends, service, port, secrets)
        }
    }

    private static func pair(
        _ ends: PairedEnds, _ port: Int, role: Role = .control, with secret: PairingSecret?
    ) async throws -> TrustedService {
        var options = ConnectOptions.patient
        options.security = ends.clientSecurity
        return try await ElementalDevice.pair(
            host: "127.0.0.1", port: port, as: "tester", role: role, options: options
        ) { _ in secret }
    }

    private static func connect(_ ends: PairedEnds, _ port: Int) async throws -> ElementalDevice {
        var options = ConnectOptions.patient
        options.security = ends.clientSecurity
        return try await ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options)
    }

    @Test(arguments: [PairingSecret.Kind.code, .secret])
    func bothEndsTrustEachOtherAfterwards(_ kind: PairingSecret.Kind) async throws {
        try await Self.withStrangers { ends, service, port, secrets in
            let paired = Gathered<TrustedClient>()
            service.onEvent { event in if case .pairing(.paired(let client)) = event { paired.add(client) } }
            try service.openPairing(for: .seconds(60), role: .observe, kind)
            try await secrets.wait(for: 1)
            let trusted = try await Self.pair(ends, port, with: secrets.all[0])
            #expect(trusted.fingerprint == ends.service.fingerprint)
            #expect(trusted.service == "test")
            #expect(trusted.role == .observe)
            try await paired.wait(for: 1)
            #expect(paired.all.map(\.fingerprint) == [ends.client.fingerprint])
            #expect(paired.all.map(\.role) == [.observe])
            let device = try await Self.connect(ends, port)
            #expect(device.grantedRole == .observe)
            await device.close()
            // The window closed with the success.
            let error = await #expect(throws: ElementalError.self) {
                _ = try await Self.pair(ends, port, with: secrets.all[0])
            }
            #expect(error?.code == .pairingClosed)
        }
    }

    @Test
    func fiveWrongCodesCloseTheWindow() async throws {
        try await Self.withStrangers { ends, service, port, secrets in
            try service.openPairing()
            try await secrets.wait(for: 1)
            let code = try #require(secrets.all.first).text
            let wrong = PairingSecret(code: code == "000000" ? "000001" : "000000")
            var codes: [ElementalError.Code?] = []
            for _ in 0..<6 {
                // No more than five handshakes of a host begin each second, and each attempt takes two.
                try await eventually {
                    let error = await #expect(throws: ElementalError.self) {
                        _ = try await Self.pair(ends, port, with: wrong)
                    }
                    if error?.code != .connectionFailed { codes.append(error?.code) }
                    return error?.code != .connectionFailed
                }
            }
            #expect(codes == Array(repeating: .wrongCode, count: 5) + [.pairingClosed])
            #expect(ends.serviceStore.read().clients.isEmpty)
            #expect(ends.clientStore.read().services.isEmpty)
        }
    }

    @Test
    func withoutAWindowNobodyPairs() async throws {
        try await Self.withStrangers { ends, service, port, _ in
            let error = await #expect(throws: ElementalError.self) { _ = try await Self.pair(ends, port, with: nil) }
            #expect(error?.code == .pairingClosed)
        }
    }

    @Test
    func anOpenServiceHasNothingToPairFor() async throws {
        try await withService { service, port in
            let error = #expect(throws: ElementalError.self) { try service.openPairing() }
            #expect(error?.code == .invalidState)
            var options = ConnectOptions.patient
            options.security = .automatic(identity: Ed25519Identity(), store: InMemoryTrustStore())
            let other = await #expect(throws: ElementalError.self) {
                _ = try await ElementalDevice.pair(host: "127.0.0.1", port: port, as: "tester", options: options) { _ in
                    nil
                }
            }
            #expect(other?.code == .connectionFailed)
        }
    }
}
