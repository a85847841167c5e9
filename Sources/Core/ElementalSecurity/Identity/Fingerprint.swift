/// Identifies an end: the SHA-256 of its public key as certificates hold it (SubjectPublicKeyInfo), for any kind of
/// key.
public struct Fingerprint: Sendable, Hashable {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// The fingerprint of a public key.
    ///
    /// - Parameter publicKey: its SubjectPublicKeyInfo, DER (RFC 5280).
    public init(publicKey: [UInt8]) { bytes = Primitives.sha256(publicKey) }

    /// - Parameter bytes: 32 bytes; `nil` for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads all 52 base32 characters, in groups or not, in upper or lower case. A part of them is not accepted: a
    /// shorter fingerprint can be forged.
    public init?(_ text: String) {
        var bits: UInt32 = 0
        var bitCount = 0
        var bytes: [UInt8] = []
        var count = 0
        for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            guard let value = Self.value(byte), count < Self.characterCount else { return nil }
            count += 1
            bits = bits << 5 | value
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                bits &= 1 << UInt32(bitCount) - 1
            }
        }
        // 52 characters have 4 bits more than the hash, which must be zero: one text for one fingerprint.
        guard count == Self.characterCount, bits == 0 else { return nil }
        self.bytes = bytes
    }

    /// 256 bits at 5 per character.
    private static let characterCount = 52
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    private static func value(_ byte: UInt8) -> UInt32? {
        let lowercase = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        return alphabet.firstIndex(of: lowercase).map(UInt32.init)
    }

    private var characters: [UInt8] {
        var bits: UInt32 = 0
        var bitCount = 0
        var characters: [UInt8] = []
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                characters.append(Self.alphabet[Int(bits >> UInt32(bitCount) & 31)])
            }
            bits &= 1 << UInt32(bitCount) - 1
        }
        if bitCount > 0 { characters.append(Self.alphabet[Int(bits << UInt32(5 - bitCount) & 31)]) }
        return characters
    }

    /// The first 16 characters, for people and for TXT records; it proves nothing.
    public var short: String { String(decoding: characters.prefix(16), as: UTF8.self) }
}

extension Fingerprint: CustomStringConvertible {
    /// The whole fingerprint in base32 (RFC 4648, lower case), in groups of four.
    public var description: String {
        stride(from: 0, to: Self.characterCount, by: 4)
            .map { String(decoding: characters[$0..<min($0 + 4, characters.count)], as: UTF8.self) }
            .joined(separator: "-")
    }
}
