import Testing

@testable import ElementalSecurity

struct FingerprintTests {
    private static let fingerprint = Fingerprint(publicKey: Array("abc".utf8))

    /// SHA-256 of "abc" (FIPS 180-4), and its base32 (RFC 4648) by `base32` of GNU coreutils.
    @Test
    func itIsTheHashInBase32() {
        #expect(
            Self.fingerprint.bytes == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(
            "\(Self.fingerprint)" == "xj4b-np4p-ahh6-uqkb-idpf-3lrc-eoya-gynd-sylx-vhfu-cd7w-d4qa-cwwq")
        #expect(Self.fingerprint.short == "xj4bnp4pahh6uqkb")
    }

    @Test
    func itsTextIsReadInAnyGrouping() {
        let text = "\(Self.fingerprint)"
        #expect(Fingerprint(text) == Self.fingerprint)
        #expect(Fingerprint(text.uppercased()) == Self.fingerprint)
        #expect(Fingerprint(text.replacing("-", with: "")) == Self.fingerprint)
        #expect(Fingerprint(text.replacing("-", with: " ")) == Self.fingerprint)
    }

    /// A part of it, one character more, characters that base32 has not, and a last character with bits of nothing.
    @Test(arguments: ["", "xj4b", "short", "1", "é"])
    func otherTextsAreNone(_ text: String) {
        let whole = "\(Self.fingerprint)"
        #expect(Fingerprint(text) == nil)
        #expect(Fingerprint(whole + text + "a") == nil)
        #expect(Fingerprint(String(whole.dropLast())) == nil)
        #expect(Fingerprint(String(whole.dropLast()) + "r") == nil)
    }
}
