import ElementalSecurity
import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// An admin's commands to a service.
struct AdministrationTests {
    private static func options(_ identity: any Identity, _ store: any TrustStore) -> ConnectOptions {
        var options = ConnectOptions.patient
        options.security = .required(identity: identity, store: store)
        return options
    }

    private static func pair(_ port: Int, with secret: PairingSecret) async throws -> TrustedService {
        try await ServicePlace.address(host: "127.0.0.1", port: port).pair(
            as: "newcomer",
            options: options(Ed25519Identity(), InMemoryTrustStore())
        ) { request in
            #expect(request.kind == secret.kind)
            return secret
        }
    }

    @Test(arguments: [PairingSecret.Kind.code, .secret])
    func anAdminOpensTheWindow(_ kind: PairingSecret.Kind) async throws {
        let ends = try PairedEnds(.admin)
        try await ends.withService { service, port in
            let events = Transcript<PairingEvent>()
            service.onEvent { event in if case .pairing(let event) = event { events.add(event) } }
            let window = try await DiscoveredService.onLoopback(port).openPairing(
                for: .seconds(3600), role: .observe, kind, options: Self.options(ends.client, ends.clientStore))
            #expect(window.secret.kind == kind)
            #expect(window.role == .observe)
            #expect((1...3600).contains(window.timeLeft.components.seconds))
            #expect(try await Self.pair(port, with: window.secret).role == .observe)
            try await events.wait(for: 3)
            // The service itself does not know what is shown elsewhere.
            guard case .openedByAdmin = events.all[0] else { return #expect(Bool(false), "\(events.all[0])") }
            let newcomer = try #require(ends.serviceStore.read().clients.first { $0.name == "newcomer" })
            #expect(newcomer.pairedBy == ends.client.fingerprint)
        }
    }

    @Test
    func theOwnIdentityIsAnAdminOnItsHost() async throws {
        let ends = try PairedEnds(nil)
        try await ends.withService { _, port in
            var options = Self.options(ends.service, ends.serviceStore)
            // As its TXT record says.
            let window = try await DiscoveredService.onLoopback(port, id: ends.service.fingerprint.short)
                .openPairing(for: .seconds(3600), role: .admin, options: options)
            #expect(window.role == .admin)
            let paired = try await Self.pair(port, with: window.secret)
            #expect(paired.role == .control)
            let newcomer = try #require(ends.serviceStore.read().clients.first { $0.name == "newcomer" })
            #expect(newcomer.pairedBy == nil)
            // Without an identity there is nobody who could be an admin.
            options.security = .automatic
            let error = await #expect(throws: ElementalError.self) {
                _ = try await DiscoveredService.onLoopback(port).revoke(newcomer.fingerprint, options: options)
            }
            #expect(error?.code == .invalidState)
        }
    }

    @Test(arguments: [Role.observe, .control])
    func othersAreRefused(_ role: Role) async throws {
        let ends = try PairedEnds(role)
        try await ends.withService { service, port in
            let events = Transcript<PairingEvent>()
            service.onEvent { event in if case .pairing(let event) = event { events.add(event) } }
            let found = try DiscoveredService.onLoopback(port)
            let options = Self.options(ends.client, ends.clientStore)
            let opening = await errorCode {
                try await found.openPairing(for: .seconds(3600), role: .observe, options: options)
            }
            let revoking = await errorCode { try await found.revoke(ends.client.fingerprint, options: options) }
            #expect(opening == .notAuthorised && revoking == .notAuthorised)
            #expect(events.all.isEmpty)
            #expect(ends.serviceStore.read().clients.count == 1)
        }
    }

    @Test
    func aRevokedClientIsDisconnectedAndWhomItLetInIsSaid() async throws {
        let ends = try PairedEnds(.control)
        let admin = try PairedEnds(.admin, service: ends.service)
        try ends.serviceStore.update { peers in
            try peers.pin(
                TrustedClient(fingerprint: admin.client.fingerprint, name: "admin", role: .admin, services: ["test"]),
                own: ends.service.fingerprint)
            try peers.pin(
                TrustedClient(
                    fingerprint: Ed25519Identity().fingerprint, name: "guest", role: .observe, services: ["test"],
                    pairedBy: ends.client.fingerprint),
                own: ends.service.fingerprint)
        }
        try await ends.withPair { _, device in
            let port = try #require(device.address?.port)
            let revocation = try await DiscoveredService.onLoopback(port).revoke(
                ends.client.fingerprint, options: Self.options(admin.client, admin.clientStore))
            #expect(revocation.letInCount == 1)
            #expect(revocation.letIn.map(\.name) == ["guest"])
            try await eventually { device.disconnectReason != nil }
            #expect(!ends.serviceStore.read().clients.contains { $0.fingerprint == ends.client.fingerprint })
        }
    }
}
