import ElementalSecurity
import Foundation
import TestSupport
import Testing

@testable import Elemental

/// A state directory whose files vanish while a program runs.
struct VanishedStoreTests {
    @Test
    func aClientWhoseStoreVanishesDoesNotSpeakInPlain() async throws {
        try await withFolder { folder in
            let state = try SecurityState(directory: folder + "/state")
            let pinned = TrustedService(
                fingerprint: Ed25519Identity().fingerprint, service: "test", instance: "Test", role: .control)
            try state.trust.update { try $0.pin(pinned, own: state.identity.fingerprint) }
            var options = ConnectOptions.patient
            options.security = .automatic(identity: state.identity, store: state.trust)
            // An open service in the place of the paired one.
            try await withService { service, port in
                for isThere in [true, false] {
                    if !isThere { try FileManager.default.removeItem(atPath: state.directory + "/trust.json") }
                    let error = await elementalError { try await connectByName(port, options: options) }
                    #expect(error?.code == .connectionFailed)
                    #expect(error?.description.contains("is missing") == !isThere)
                }
                #expect(service.devices.isEmpty)
            }
        }
    }

    @Test
    func aClientWhoseIdentityWasReplacedDoesNotConnectOrPair() async throws {
        try await withFolder { folder in
            let state = try SecurityState(directory: folder + "/state")
            var options = ConnectOptions.patient
            options.security = .automatic(identity: state.identity, store: state.trust)
            try SecurityState.reset(directory: state.directory)
            _ = try SecurityState(directory: state.directory)
            try await withService { [options] service, port in
                let connecting = await elementalError { try await connectByName(port, options: options) }
                #expect(connecting?.description.contains("identity.pem has another key now") == true)
                let pairing = await elementalError {
                    try await ServicePlace.address(host: "127.0.0.1", port: port).pair(as: "tester", options: options) {
                        _ in
                        nil
                    }
                }
                #expect(pairing?.description.contains("identity.pem has another key now") == true)
                #expect(service.devices.isEmpty)
            }
        }
    }
}
