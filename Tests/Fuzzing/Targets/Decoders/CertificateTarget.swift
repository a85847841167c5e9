@testable import ElementalSecurity

/// A peer's certificate, which anybody may send, and the text of an identity's file. What is read of a certificate is a
/// key that is in it, of a kind that counts; an identity that can be read is the same when it is written again.
enum CertificateTarget: FuzzTarget {
    static let name = "certificate"

    private static let seed = [UInt8](0..<32)
    private static let identity = Ed25519Identity(seed: seed, serialNumber: [1, 2, 3])
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// A certificate with a P-256 key, and nothing that is not needed.
    private static let p256: [UInt8] = {
        let empty = DERWriter.value(DERTag.sequence, [UInt8]())
        let fields = [DERWriter.value(DERTag.integer, [1]), empty, empty, empty, empty, p256Prefix + seed + seed]
        return DERWriter.value(
            DERTag.sequence, [DERWriter.value(DERTag.sequence, fields), empty, DERWriter.bitString(seed)])
    }()

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        [identity.certificate, p256, Array(identity.pem().utf8), Array(identity.text(machine: seed).utf8)]
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        // A copy of exactly these bytes, so that reading past them is found by the address sanitizer.
        let bytes = Array(input)
        if let peer = try? PeerCertificate(certificate: bytes) {
            let key = peer.publicKey
            check(
                key.count == 44 && key.starts(with: ed25519Prefix) || key.count == 91 && key.starts(with: p256Prefix),
                "a key of another kind")
            check(bytes.indices.contains { bytes[$0...].starts(with: key) }, "a key that is not in the certificate")
            check(peer.fingerprint == Fingerprint(publicKey: key), "the fingerprint of something else")
        }
        if let pem = PEM(bytes) { check(PEM(Array(pem.text.utf8))?.blocks == pem.blocks, "PEM that changes") }
        if let (identity, machine) = try? Ed25519Identity.read(bytes) {
            let again = try? Ed25519Identity.read(Array(identity.text(machine: machine).utf8))
            check(again?.identity.fingerprint == identity.fingerprint, "another identity")
            check(again?.machine == machine, "another machine")
            check(
                (try? PeerCertificate(certificate: identity.certificate))?.fingerprint == identity.fingerprint,
                "an identity with another one's certificate")
        }
    }
}
