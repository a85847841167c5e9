import TestSupport
import Testing

@testable import ElementalSecurity

struct PairingSecretTests {
    /// Every draw of 32 bits below the limit is a code, and each code has as many of them.
    @Test
    func codesAreUniform() {
        func code(_ draws: UInt32...) -> String {
            var draws = draws
            return PairingSecret(generating: .code) { count in
                #expect(count == 4)
                let draw = draws.removeFirst()
                return [3, 2, 1, 0].map { UInt8(truncatingIfNeeded: draw >> ($0 * 8)) }
            }.text
        }
        #expect(code(0) == "000000" && code(7) == "000007" && code(483_291) == "483291")
        #expect(code(1_000_000) == "000000" && code(4_293_999_999) == "999999")
        // 967,296 numbers are left over, and drawn again.
        #expect(code(4_294_000_000, 5) == "000005" && code(.max, 4_294_000_001, 6) == "000006")

        var random = SeededGenerator(seed: 14)
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<20_000 {
            let code = PairingSecret(generating: .code) { count in
                (0..<count).map { _ in .random(in: 0...255, using: &random) }
            }
            for digit in code.text.utf8 { counts[Int(digit) - 48] += 1 }
        }
        // 12,000 each, with a standard deviation of 104.
        #expect(counts.allSatisfy { abs($0 - 12_000) < 600 }, "\(counts)")
    }

    @Test
    func generatedSecretsDiffer() {
        let secrets = (0..<100).map { _ in PairingSecret(generating: .secret).text }
        #expect(Set(secrets).count == 100)
        #expect(secrets.allSatisfy { $0.utf8.count == 39 && PairingSecret(secret: $0)?.text == $0 })
        #expect(PairingSecret(generating: .secret).bytes.count * 8 >= 128)
    }

    @Test
    func codesAreReadAsPeopleTypeThem() {
        #expect(PairingSecret(code: "483291")?.bytes == Array("483291".utf8))
        #expect(PairingSecret(code: "483 291") == PairingSecret(code: "483291"))
        #expect(PairingSecret(code: " 483-291 ") == PairingSecret(code: "483291"))
        for text in ["", "48329", "4832911", "48329a", "٤٨٣٢٩١", "+48329", "483291\n"] {
            #expect(PairingSecret(code: text) == nil, "\(text)")
        }
    }

    @Test
    func secretsAreReadAsPeopleTypeThem() throws {
        let secret = PairingSecret(generating: .secret)
        let text = secret.text
        #expect(PairingSecret(secret: text.uppercased()) == secret)
        #expect(PairingSecret(secret: text.replacing("-", with: "")) == secret)
        #expect(PairingSecret(secret: text.replacing("-", with: " ")) == secret)
        let short = Base32.encode([UInt8](repeating: 0, count: 19))
        let long = Base32.encode([UInt8](repeating: 0, count: 21))
        for text in ["", String(text.dropLast()), text + "a", text + "1", short, long, "483291", text + "\n"] {
            #expect(PairingSecret(secret: text) == nil, "\(text)")
        }
    }

    @Test
    func theyAreComparedByKindAndBytes() {
        #expect(PairingSecret(code: "000001") != PairingSecret(code: "000002"))
        let bytes = [UInt8](repeating: 7, count: 20)
        #expect(PairingSecret(kind: .secret, bytes: bytes) == PairingSecret(kind: .secret, bytes: bytes))
        #expect(
            PairingSecret(kind: .secret, bytes: bytes) != PairingSecret(kind: .secret, bytes: bytes.dropLast() + [8]))
        #expect(PairingSecret(kind: .code, bytes: bytes) == nil)
    }

    @Test(arguments: PairingSecret.Kind.allCases)
    func secretsAreNotShown(_ kind: PairingSecret.Kind) throws {
        var ends = AdmissionEnds.pairing(kind)
        let secret = try #require(ends.window.shown)
        let link = PairingLink(service: "robot", name: nil, fingerprint: AdmissionEnds.serviceKey, secret: secret)
        try ends.runToConfirmation()
        var admin = AdmissionEnds(.openWindow(seconds: 10, .control, kind), storedRole: .admin)
        admin.run()
        let shown = try #require(admin.window.shown)
        let holders: [Any] = [
            secret, link, ends.window, ends.client, ends.service, ends.clientActions, ends.serviceActions,
            ClientAdmission.Purpose.pair(secret, .control), admin.clientActions, admin.serviceActions,
            try admin.lastMessage(.service), admin.window, try ends.window.begin(at: ends.now + .seconds(5)),
        ]
        for holder in holders {
            var dumped = ""
            dump(holder, to: &dumped)
            for text in ["\(holder)", String(reflecting: holder), dumped] {
                for secret in [secret, shown] {
                    let forms = [
                        secret.text, Base32.encode(secret.bytes), "\(secret.bytes)".filter { !"[]".contains($0) },
                        secret.bytes.map { "- \($0)\n" }.joined(),
                    ]
                    for form in forms { #expect(!text.contains(form)) }
                    #expect(!dumped.filter { !" -▿\n".contains($0) }.contains(secret.bytes.map { "\($0)" }.joined()))
                }
            }
        }
    }

    // MARK: - Links

    private static let link = PairingLink(
        service: "screen_control", name: "Küche & Bad 100%", fingerprint: AdmissionEnds.serviceKey,
        secret: PairingSecret(generating: .secret))

    @Test
    func linksAreRead() throws {
        let text = Self.link.text
        #expect(PairingLink(text) == Self.link)
        #expect(text.hasPrefix("elemental:pair?service=screen_control&name=K%C3%BCche%20%26%20Bad%20100%25&id="))
        #expect(PairingLink(text + "&later=1") == Self.link)
        let nameless = PairingLink(
            service: "a", name: nil, fingerprint: AdmissionEnds.serviceKey, secret: Self.link.secret)
        #expect(PairingLink(nameless.text) == nameless)
    }

    @Test
    func otherTextsAreNoLinks() {
        let text = Self.link.text
        for wrong in [
            "", "elemental:pair?", "elemental:pair?service=a", String(text.dropLast()), text + "&", text + "&x",
            text + "&service=b", text + "&x=%", text + "&x=%4", text + "&x=%GG", text + "&x=%+1", text + "&x=%FF",
            text + "&x=%0A", text + "&x=" + String(repeating: "a", count: 1024), "https://example/" + text,
            text.replacing("service=screen_control", with: "service="), text.replacing("&id=", with: "&id=a"),
        ] {
            #expect(PairingLink(wrong) == nil, "\(wrong)")
        }
    }
}
