import Dispatch
import ElementalSecurity
import TestSupport
import Testing

@testable import Elemental

/// A service looks at its store while a client pairs.
struct LateLookTests {
    @Test(.backstop)
    func whatWasReadBeforeAClientPairedDoesNotDisconnectIt() async throws {
        let ends = try PairedEnds(nil)
        let store = WatchedStore()
        try await withService {
            $0.security = .paired(identity: ends.service, store: store)
        } _: { service, port in
            let secrets = Transcript<PairingSecret>()
            service.onEvent { event in
                if case .pairing(.opened(let secret, _, _)) = event { secrets.add(secret) }
            }
            try ends.clientStore.update { $0.services = [] }
            try service.openPairing(for: .seconds(3600))
            try await secrets.wait(for: 1)
            // Somebody else's change, which the service reads.
            store.slowDown()
            try store.update {
                try $0.pin(
                    TrustedClient(
                        fingerprint: Ed25519Identity().fingerprint, name: "other", role: .control, services: .all),
                    own: ends.service.fingerprint)
            }
            try await eventually { store.hasRead.wait(timeout: .now()) == .success }
            _ = try await Strangers.pair(ends, port, with: secrets.all[0])
            let device = try await Strangers.connect(ends, port)
            // What was read before is there now, and then comes the next look.
            let count = store.lookCount
            store.goesOn.signal()
            try await eventually { store.lookCount > count + 1 }
            #expect(device.isConnected)
            #expect(try await device.ping() > .zero)
            await device.close()
        }
    }
}
