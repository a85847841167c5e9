import Foundation
import TestSupport
import Testing

@testable import ElementalSecurity

struct IdentityTests {
    private static let seed = [UInt8](0..<32)
    private static let serialNumber = [UInt8](repeating: 0xFF, count: 16)

    /// RFC 8032, section 7.1, tests 1 and 3.
    @Test
    func keysAndSignaturesAreThoseOfTheStandard() {
        let first = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
        #expect(
            Primitives.ed25519PublicKey(seed: first)
                == bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
        #expect(
            Primitives.ed25519Signature(of: [], seed: first)
                == bytes(
                    """
                    e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b
                    d25bf5f0595bbe24655141438e7a100b
                    """))
        let third = bytes("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")
        #expect(
            Primitives.ed25519Signature(of: [0xAF, 0x82], seed: third)
                == bytes(
                    """
                    6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659
                    4a7c15e9716ed28dc027beceea1ec40a
                    """))
    }

    /// The same key in a certificate that Python's `cryptography` made.
    @Test
    func aKeyHasTheFingerprintThatOthersComputeForIt() {
        let identity = Ed25519Identity(seed: Self.seed, serialNumber: Self.serialNumber)
        #expect(identity.fingerprint.bytes == bytes(PeerCertificateTests.ed25519.publicKeyHash))
    }

    @Test
    func opensslReadsAndVerifiesTheCertificate() async throws {
        try await withFolder { directory in
            let identity = Ed25519Identity()
            try Data(identity.certificate).write(to: URL(filePath: "\(directory)/certificate.der"))
            let reading = ["x509", "-inform", "DER", "-in", "\(directory)/certificate.der", "-noout"]
            let shown = try await openssl(reading + ["-subject", "-issuer", "-dates"])
            // Versions before 3.2 write spaces around the sign.
            #expect(
                shown.replacing(" = ", with: "=") == """
                    subject=CN=elemental
                    issuer=CN=elemental
                    notBefore=Jan  1 00:00:00 1970 GMT
                    notAfter=Dec 31 23:59:59 9999 GMT
                    """)
            let text = try await openssl(reading + ["-text"])
            for part in ["Version: 3 (0x2)", "ED25519", "CA:FALSE", "Digital Signature"] {
                #expect(text.contains(part), "\(text)")
            }
            // The signature too, and by the strict rules.
            let pem = "\(directory)/identity.pem"
            try Data(identity.pem().utf8).write(to: URL(filePath: pem))
            let verified = try await openssl(
                ["verify", "-x509_strict", "-check_ss_sig", "-purpose", "any", "-CAfile", pem, pem])
            #expect(verified.hasSuffix("OK"))
        }
    }

    @Test
    func opensslSignsWithTheWrittenKey() async throws {
        try await withFolder { directory in
            let identity = Ed25519Identity()
            let file = "\(directory)/identity.pem"
            try Data(identity.pem().utf8).write(to: URL(filePath: file))
            try await openssl(["pkey", "-in", file, "-pubout", "-outform", "DER", "-out", "\(directory)/public"])
            #expect(Fingerprint(publicKey: try contents("\(directory)/public")) == identity.fingerprint)
            guard case .pkcs8(let key) = identity.privateKey else { return #expect(Bool(false)) }
            let (message, signature) = ("\(directory)/message", "\(directory)/signature")
            try Data("message".utf8).write(to: URL(filePath: message))
            try await openssl(["pkeyutl", "-sign", "-rawin", "-inkey", file, "-in", message, "-out", signature])
            #expect(
                try contents(signature)
                    == Primitives.ed25519Signature(of: Array("message".utf8), seed: key.suffix(32)))
        }
    }

    /// Each identity has a key and a serial number of its own; whatever the random bytes are, the number is positive
    /// and in its shortest form.
    @Test
    func identitiesAreDifferent() throws {
        var fingerprints: Set<Fingerprint> = []
        for _ in 0..<50 {
            let identity = Ed25519Identity()
            fingerprints.insert(identity.fingerprint)
            #expect(try PeerCertificate(certificate: identity.certificate).fingerprint == identity.fingerprint)
        }
        #expect(fingerprints.count == 50)
        for first: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
            let number = [first] + [UInt8](repeating: first, count: 15)
            let certificate = Ed25519Identity(seed: Self.seed, serialNumber: number).certificate
            // The version, then an integer of 16 bytes.
            let start = certificate.indices.first { certificate[$0...].starts(with: [0xA0, 3, 2, 1, 2, 2, 16]) }
            let leading = try #require(start.map { certificate[$0 + 7] })
            #expect((1...0x7F).contains(leading))
        }
    }

    @Test
    func itIsReadAsItWasWritten() throws {
        let identity = Ed25519Identity()
        let copy = try Ed25519Identity(pem: identity.pem())
        #expect(copy.fingerprint == identity.fingerprint)
        #expect(copy.certificate == identity.certificate)
        #expect(copy.pem() == identity.pem())
        let (_, machine) = try Ed25519Identity.read(Array(identity.text(machine: [1, 0xAB]).utf8))
        #expect(machine == [1, 0xAB])
    }

    /// `openssl req` makes an identity too; a key of another kind is refused.
    @Test(arguments: [("ed25519", nil), ("rsa:2048", .unsupportedKey)] as [(String, SecurityError.Code?)])
    func anIdentityOfOpensslIsRead(_ kind: String, _ expected: SecurityError.Code?) async throws {
        try await withFolder { directory in
            let (key, certificate) = ("\(directory)/key", "\(directory)/certificate")
            try await openssl(
                ["req", "-x509", "-noenc", "-subj", "/CN=mine", "-newkey", kind, "-keyout", key, "-out", certificate])
            let parts = try contents(key) + contents(certificate)
            let pem = String(decoding: parts, as: UTF8.self)
            #expect(Self.code(pem) == expected)
            guard expected == nil else { return }
            try await openssl(["pkey", "-in", key, "-pubout", "-outform", "DER", "-out", "\(directory)/public"])
            let fingerprint = Fingerprint(publicKey: try contents("\(directory)/public"))
            #expect(try Ed25519Identity(pem: pem).fingerprint == fingerprint)
        }
    }

    // MARK: Hostile texts

    private static func code(_ text: String) -> SecurityError.Code? {
        securityError { _ = try Ed25519Identity(pem: text) }?.code
    }

    @Test
    func aTruncatedTextIsRefused() {
        let text = Ed25519Identity().pem()
        for count in 0..<text.count - 1 { #expect(Self.code(String(text.prefix(count))) == .corrupt, "\(count)") }
        // Only the last line's end does not count.
        #expect(Self.code(String(text.dropLast())) == nil)
    }

    @Test
    func anotherOrderOrAForeignCertificateIsRefused() throws {
        let (a, b) = (Ed25519Identity().pem(), Ed25519Identity().pem())
        let marker = "-----BEGIN CERTIFICATE-----"
        func parts(_ text: String) throws -> (key: String, certificate: String) {
            let start = try #require(text.range(of: marker)).lowerBound
            return (String(text[..<start]), String(text[start...]))
        }
        let (first, second) = (try parts(a), try parts(b))
        #expect(Self.code(first.key + first.certificate) == nil)
        #expect(Self.code(first.key + second.certificate) == .corrupt)
        #expect(Self.code(first.certificate + first.key) == .corrupt)
        #expect(Self.code(first.key) == .corrupt)
        #expect(Self.code(first.certificate) == .corrupt)
        #expect(Self.code(a + b) == .corrupt)
        #expect(Self.code(a + "text after it\n") == .corrupt)
        #expect(Self.code("Machine: 12\nMachine: 34\n" + a) == .corrupt)
        #expect(Self.code("Machine: not hexadecimal\n" + a) == .corrupt)
        #expect(Self.code(String(repeating: "x", count: 20_000) + "\n" + a) == .corrupt)
    }

    @Test
    func changedTextsAreReadOrRefused() {
        let identity = Ed25519Identity()
        var readCount = 0
        changes(of: identity.pem().utf8, to: "-=/+A \n\r\0\u{FF}:BEGIN".utf8, seed: 15) { changed in
            // The key is in the certificate too: a changed key is not read as another identity.
            guard let read = try? Ed25519Identity.read(changed).identity else { return }
            readCount += 1
            #expect(read.fingerprint == identity.fingerprint)
        }
        #expect(readCount > 0)
    }

    // MARK: Secrets

    @Test
    func noDescriptionHasTheKey() {
        let identity = Ed25519Identity(seed: [UInt8](repeating: 0xA7, count: 32), serialNumber: Self.serialNumber)
        var dumped = ""
        dump(identity, to: &dumped)
        var dumpedKey = ""
        dump(identity.privateKey, to: &dumpedKey)
        let texts = [
            "\(identity)", String(reflecting: identity), "\(identity.privateKey)",
            String(reflecting: identity.privateKey),
            "\([identity.privateKey])", dumped, dumpedKey,
        ]
        // The certificate may have that byte too, but not 32 times.
        for text in texts { #expect(text.components(separatedBy: "167").count < 16, "\(text)") }
    }
}
