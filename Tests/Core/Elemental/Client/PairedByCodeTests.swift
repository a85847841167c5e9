import ElementalSecurity
import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// Pairing over a connection.
struct PairedByCodeTests {
    @Test(arguments: [PairingSecret.Kind.code, .secret])
    func bothEndsTrustEachOtherAfterwards(_ kind: PairingSecret.Kind) async throws {
        try await Strangers.with { ends, service, port, secrets in
            let paired = Transcript<TrustedClient>()
            service.onEvent { event in if case .pairing(.paired(let client)) = event { paired.add(client) } }
            try service.openPairing(for: .seconds(3600), role: .observe, kind)
            try await secrets.wait(for: 1)
            let trusted = try await Strangers.pair(ends, port, with: secrets.all[0])
            #expect(trusted.fingerprint == ends.service.fingerprint)
            #expect(trusted.service == "test")
            #expect(trusted.role == .observe)
            try await paired.wait(for: 1)
            #expect(paired.all.map(\.fingerprint) == [ends.client.fingerprint])
            #expect(paired.all.map(\.role) == [.observe])
            let device = try await Strangers.connect(ends, port)
            #expect(device.grantedRole == .observe)
            await device.close()
            // The window closed with the success.
            #expect(await errorCode { try await Strangers.pair(ends, port, with: secrets.all[0]) } == .pairingClosed)
        }
    }

    @Test
    func fiveWrongCodesCloseTheWindow() async throws {
        try await Strangers.with { ends, service, port, secrets in
            try service.openPairing(for: .seconds(3600))
            try await secrets.wait(for: 1)
            let code = try #require(secrets.all.first).text
            let wrong = PairingSecret(code: code == "000000" ? "000001" : "000000")
            var codes: [ElementalError.Code?] = []
            for _ in 0..<6 {
                let error = await elementalError { try await Strangers.pair(ends, port, with: wrong) }
                codes.append(error?.code)
            }
            #expect(codes == Array(repeating: .wrongCode, count: 5) + [.pairingClosed])
            #expect(ends.serviceStore.read().clients.isEmpty)
            #expect(ends.clientStore.read().services.isEmpty)
        }
    }

    @Test
    func theServiceClosesItsWindow() async throws {
        try await Strangers.with { ends, service, port, secrets in
            let events = Transcript<String>()
            service.onEvent { event in
                switch event {
                case .pairing(.opened): events.add("opened")
                case .pairing(.closed): events.add("closed")
                case .pairing: events.add("another")
                default: break
                }
            }
            // No window is open.
            service.closePairing()
            try service.openPairing(for: .seconds(3600))
            try await secrets.wait(for: 1)
            service.closePairing()
            service.closePairing()
            #expect(await errorCode { try await Strangers.pair(ends, port, with: secrets.all[0]) } == .pairingClosed)
            #expect(events.all == ["opened", "closed"])
            await service.stop()
            service.closePairing()
            #expect(events.all == ["opened", "closed"])
        }
    }

    @Test
    func anOpenServiceHasNothingToPairFor() async throws {
        try await withService { service, port in
            #expect(await errorCode { try service.openPairing(for: .seconds(3600)) } == .invalidState)
            var options = ConnectOptions.patient
            options.security = .automatic(identity: Ed25519Identity(), store: InMemoryTrustStore())
            let other = await #expect(throws: ElementalError.self) {
                _ = try await ServicePlace.address(host: "127.0.0.1", port: port).pair(as: "tester", options: options) {
                    _ in
                    nil
                }
            }
            #expect(other?.code == .connectionFailed)
        }
    }

    /// A store on a full disk, whose path is its machine's own business.
    private struct FullStore: TrustStore {
        func read() -> TrustedPeers { TrustedPeers() }
        func revision() -> TrustRevision { TrustRevision(1) }
        func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result {
            throw SecurityError(.diskFull, "cannot write /var/lib/secret/trust.json: no space is left")
        }
    }

    @Test
    func whatTheServiceCannotStoreIsPairedNowhere() async throws {
        let ends = try PairedEnds(nil)
        try ends.clientStore.update { $0.services = [] }
        try await withService {
            $0.security = .paired(identity: ends.service, store: FullStore())
            $0.acceptClock = AcceptClock.hurrying()
        } _: { service, port in
            let secrets = Transcript<PairingSecret>()
            let reasons = Transcript<String>()
            service.onEvent { event in
                if case .pairing(.opened(let secret, _, _)) = event { secrets.add(secret) }
                if case .pairing(.failed(let client, let error)) = event { reasons.add("\(client.name): \(error)") }
            }
            try service.openPairing()
            try await secrets.wait(for: 1)
            let error = await elementalError { try await Strangers.pair(ends, port, with: secrets.all[0]) }
            #expect(error?.code == .refused)
            let text = error?.description ?? ""
            #expect(text.contains("nothing was paired") && !text.contains("/var"), "\(text)")
            #expect(ends.clientStore.read().services.isEmpty)
            try await reasons.wait(for: 1)
            #expect(reasons.all[0].contains("tester") && reasons.all[0].contains("no space is left"), "\(reasons.all)")
        }
    }

    @Test
    func pairingAgainIsTheSamePairing() async throws {
        try await Strangers.with { ends, service, port, secrets in
            for number in 1...2 {
                try service.openPairing()
                try await secrets.wait(for: number)
                _ = try await Strangers.pair(ends, port, with: secrets.all[number - 1])
            }
            #expect(ends.serviceStore.read().clients.count == 1)
            #expect(ends.clientStore.read().services.count == 1)
        }
    }
}
