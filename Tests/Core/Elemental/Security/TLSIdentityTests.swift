import ElementalSecurity
import NIOEmbedded
import Testing

@testable import Elemental

/// An identity as TLS uses it. ``GateTests`` and ``ForeignTLSTests`` test handshakes.
struct TLSIdentityTests {
    private struct Changed: Identity {
        let fingerprint: Fingerprint
        let certificate: [UInt8]
        let privateKey: IdentityKey

        init(_ other: Ed25519Identity, certificate: [UInt8]? = nil, key: [UInt8]? = nil) {
            fingerprint = other.fingerprint
            self.certificate = certificate ?? other.certificate
            privateKey = key.map { .pkcs8($0) } ?? other.privateKey
        }
    }

    @Test
    func itHasTheFingerprintOfItsKey() throws {
        let identity = Ed25519Identity()
        #expect(try TLSIdentity(identity).fingerprint == identity.fingerprint)
    }

    private static let unusable: [Changed] = {
        let identity = Ed25519Identity()
        let others = [[], [0x30], [UInt8](repeating: 7, count: 300)]
        guard case .pkcs8(let key) = Ed25519Identity().privateKey else { preconditionFailure() }
        return others.map { Changed(identity, certificate: $0) } + (others + [key]).map { Changed(identity, key: $0) }
    }()

    /// No word of the TLS library, which names its source files, reaches the user.
    @Test
    func whatTLSCannotUseIsAnError() async throws {
        let message =
            "TLS cannot use the certificate or the private key of this program's identity: one of them is damaged, or "
            + "they do not belong together"
        for identity in Self.unusable {
            let refusal = #expect(throws: SecurityError.self) { try TLSIdentity(identity) }
            #expect(refusal?.message == message)
            let ends = try PairedEnds(client: identity)
            try await ends.withService { _, port in
                let errors = [
                    await elementalError { _ = try await ends.connect(port) },
                    await elementalError {
                        _ = try await Strangers.pair(ends, port, with: PairingSecret(code: "123456"))
                    },
                    await elementalError {
                        try await PairedEnds(service: identity).withService { _, _ in }
                    },
                ]
                for error in errors {
                    let text = try #require(error).description
                    #expect(text.contains(message), "\(text)")
                }
            }
        }
    }

    @Test
    func whereThereIsNoTLSNobodyHasProvenAnIdentity() {
        #expect(TLSIdentity.fingerprint(of: EmbeddedChannel().pipeline) == nil)
    }
}
