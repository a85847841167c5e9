import Foundation
import TestSupport
import Testing

@testable import ElementalSecurity

/// Certificates that others made.
struct PeerCertificateTests {
    /// A certificate made with Python's `cryptography` 48, and the SHA-256 of its SubjectPublicKeyInfo.
    struct Vector: Sendable {
        let base64: String
        let publicKeyHash: String

        var certificate: [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }
    }

    /// The private key is the bytes 0…31.
    static let ed25519 = Vector(
        base64: """
            MIH/MIGyoAMCAQICAU0wBQYDK2VwMBwxDTALBgNVBAMMBHBlZXIxCzAJBgNVBAYTAkRFMB4XDTIwMDEwMTAwMDAwMFoXDTIwMDEwMjAwMDAw\
            MFowHDENMAsGA1UEAwwEcGVlcjELMAkGA1UEBhMCREUwKjAFBgMrZXADIQADoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuKMZMBcw\
            FQYDVR0RBA4wDIIKcGVlci5sb2NhbDAFBgMrZXADQQCmG4+dWUTHhVnsb6w2BANaQf4OlLy5iMuy3k98/1vSRt1Xc+xPmK7+VI3c5DPtjnBu\
            8b48M2OElnRqt/Sc6WQL
            """,
        publicKeyHash: "a050837d85070582ccf7394b0988847cc312cb88259b894899f6f239cf1791a5")
    static let p256 = Vector(
        base64: """
            MIIBPzCB5qADAgECAgFNMAoGCCqGSM49BAMCMBwxDTALBgNVBAMMBHBlZXIxCzAJBgNVBAYTAkRFMB4XDTIwMDEwMTAwMDAwMFoXDTIwMDEw\
            MjAwMDAwMFowHDENMAsGA1UEAwwEcGVlcjELMAkGA1UEBhMCREUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASfrYSurgi7738BABTYLO9q\
            Cd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/1PoxkwFzAVBgNVHREEDjAMggpwZWVyLmxvY2FsMAoGCCqG\
            SM49BAMCA0gAMEUCIQCgvYKmOlOua3Pg0CC1g9FKZRpkiNl6aB7mIWXG/F72FAIgVIu0NWfbzmd9qyyUV8JUq/BNnejNK0yzw1fT/pvOTsE=
            """,
        publicKeyHash: "2a22a91fd74ac9b9f4b2c1fb92f110969b008d8a304e13442cacfa1599d21069")

    private static func code(_ certificate: [UInt8]) -> SecurityError.Code? {
        securityError { _ = try PeerCertificate(certificate: certificate) }?.code
    }

    @Test(arguments: [ed25519, p256])
    func theKeyOfACertificateIsRead(_ vector: Vector) throws {
        let peer = try PeerCertificate(certificate: vector.certificate)
        #expect(peer.fingerprint.bytes == bytes(vector.publicKeyHash))
        #expect(peer.fingerprint == Fingerprint(publicKey: peer.publicKey))
    }

    /// What openssl makes with these arguments is read, or refused for its key.
    @Test(
        arguments: [
            ("ed25519", [], nil),
            ("ec", ["-pkeyopt", "ec_paramgen_curve:P-256"], nil),
            ("ec", ["-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt", "ec_param_enc:explicit"], .unsupportedKey),
            ("ec", ["-pkeyopt", "ec_paramgen_curve:P-384"], .unsupportedKey),
            ("ec", ["-pkeyopt", "ec_paramgen_curve:secp256k1"], .unsupportedKey),
            ("rsa:2048", [], .unsupportedKey),
            ("ed448", [], .unsupportedKey),
        ] as [(String, [String], SecurityError.Code?)])
    func keysOfOtherKindsAreRefused(_ key: String, _ options: [String], _ expected: SecurityError.Code?) async throws {
        try await withFolder { directory in
            try await openssl(
                ["req", "-x509", "-noenc", "-subj", "/CN=peer", "-newkey", key] + options
                    + ["-keyout", "\(directory)/key", "-outform", "DER", "-out", "\(directory)/certificate"])
            let certificate = try contents("\(directory)/certificate")
            #expect(Self.code(certificate) == expected)
            guard expected == nil else { return }
            let (own, publicKey) = ("\(directory)/key", "\(directory)/public")
            try await openssl(["pkey", "-in", own, "-pubout", "-outform", "DER", "-out", publicKey])
            #expect(try PeerCertificate(certificate: certificate).publicKey == contents(publicKey))
        }
    }

    /// One key has one encoding, so that it has one fingerprint.
    @Test
    func aCompressedKeyIsRefused() {
        var point = Self.p256.certificate
        let start = point.indices.first { point[$0...].starts(with: [0x03, 0x42, 0x00, 0x04]) }
        guard let start else { return #expect(Bool(false), "there is no point in the certificate") }
        point[start + 3] = 0x02
        #expect(Self.code(point) == .unsupportedKey)
    }

    @Test
    func everyTruncationIsRefused() {
        for vector in [Self.ed25519, Self.p256] {
            let certificate = vector.certificate
            for count in 0..<certificate.count {
                #expect(Self.code(Array(certificate[..<count])) == .invalidCertificate)
            }
            #expect(Self.code(certificate + [0]) == .invalidCertificate)
        }
    }

    /// Lengths that are not in their shortest form, of no form, or of more bytes than a certificate may have.
    @Test(arguments: [
        "30 80 0000", "30 8101 05", "30 820001 05", "30 83000001 05", "30 84ffffffff 05", "30 88ffffffffffffffff",
        "30 ff",
        "3f 01 00", "30", "", "00", "30 00",
    ])
    func otherLengthsAreRefused(_ hex: String) { #expect(Self.code(bytes(hex)) == .invalidCertificate) }

    /// The same certificate, with its own length in a longer form than it needs.
    @Test
    func anotherEncodingOfTheSameIsRefused() {
        let certificate = Self.ed25519.certificate
        #expect(certificate.starts(with: [0x30, 0x81, 0xFF]))
        let contents = certificate.dropFirst(3)
        #expect(Self.code([0x30, 0x82, 0x00, 0xFF] + contents) == .invalidCertificate)
        // Indefinite length, which is BER.
        #expect(Self.code([0x30, 0x80] + contents + [0, 0]) == .invalidCertificate)
        let short = Array(contents.prefix(20))
        var reader = DERReader(([0x04, 20] + short)[...])
        #expect(reader.next().map { Array($0.contents) } == short)
        reader = DERReader(([0x04, 0x81, 20] + short)[...])
        #expect(reader.next()?.tag == nil)
    }

    @Test
    func tooLargeACertificateIsRefused() {
        let padding = DERWriter.value(
            DERTag.octetString, [UInt8](repeating: 0, count: PeerCertificate.maximumByteCount))
        #expect(Self.code(DERWriter.value(DERTag.sequence, padding)) == .invalidCertificate)
    }

    @Test
    func changedCertificatesAreReadOrRefused() {
        var readCount = 0
        for vector in [Self.ed25519, Self.p256] {
            changes(of: vector.certificate, to: UInt8.min...UInt8.max, seed: 14, count: 20_000) { changed in
                guard let peer = try? PeerCertificate(certificate: changed) else { return }
                readCount += 1
                #expect(peer.publicKey.count == 44 || peer.publicKey.count == 91)
            }
        }
        // A change of the key, a name or the signature is not noticed here: TLS proves the key.
        #expect(readCount > 0)
    }
}
