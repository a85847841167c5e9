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

    @Test(arguments: [[], [0x30], [UInt8](repeating: 7, count: 300)])
    func whatTLSCannotUseIsAnError(_ bytes: [UInt8]) throws {
        let identity = Ed25519Identity()
        #expect(throws: (any Error).self) { try TLSIdentity(Changed(identity, certificate: bytes)) }
        #expect(throws: (any Error).self) { try TLSIdentity(Changed(identity, key: bytes)) }
    }

    @Test
    func aKeyOfAnotherCertificateMakesNoHandler() throws {
        guard case .pkcs8(let key) = Ed25519Identity().privateKey else { preconditionFailure() }
        let changed = Changed(Ed25519Identity(), key: key)
        #expect(throws: (any Error).self) { _ = try TLSIdentity(changed).makeServerHandler() }
        #expect(throws: (any Error).self) { _ = try TLSIdentity(changed).makeClientHandler { _ in true } }
    }

    @Test
    func whereThereIsNoTLSNobodyHasProvenAnIdentity() {
        #expect(TLSIdentity.fingerprint(of: EmbeddedChannel().pipeline) == nil)
    }
}
