/// A number modulo 2^255 - 19, the field of Curve25519, in five limbs of 51 bits. All operations are constant-time.
struct FieldElement: Sendable {
    private var limbs: (UInt64, UInt64, UInt64, UInt64, UInt64)

    private static let mask: UInt64 = 1 << 51 - 1

    private init(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64, _ e: UInt64) { limbs = (a, b, c, d, e) }

    init(_ number: UInt32) { self.init(UInt64(number), 0, 0, 0, 0) }

    /// Reads 32 bytes, little-endian; the highest bit is ignored, as RFC 7748 specifies.
    init(bytes: [UInt8]) {
        precondition(bytes.count == 32)
        let words = bytes.withUnsafeBytes { bytes in
            (0..<4).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
        }
        self.init(
            words[0] & Self.mask,
            (words[0] >> 51 | words[1] << 13) & Self.mask,
            (words[1] >> 38 | words[2] << 26) & Self.mask,
            (words[2] >> 25 | words[3] << 39) & Self.mask,
            words[3] >> 12 & Self.mask)
    }

    /// The number between 0 and 2^255 - 20, in 32 bytes, little-endian.
    var bytes: [UInt8] {
        var number = carried.carried
        // Too large by the modulus at most once: adding 19 overflows 255 bits exactly then.
        var carry = (number.limbs.0 &+ 19) >> 51
        carry = (number.limbs.1 &+ carry) >> 51
        carry = (number.limbs.2 &+ carry) >> 51
        carry = (number.limbs.3 &+ carry) >> 51
        carry = (number.limbs.4 &+ carry) >> 51
        number.limbs.0 &+= 19 &* carry
        number.limbs.1 &+= number.limbs.0 >> 51
        number.limbs.2 &+= number.limbs.1 >> 51
        number.limbs.3 &+= number.limbs.2 >> 51
        number.limbs.4 &+= number.limbs.3 >> 51
        let (a, b, c, d, e) = (
            number.limbs.0 & Self.mask, number.limbs.1 & Self.mask, number.limbs.2 & Self.mask,
            number.limbs.3 & Self.mask, number.limbs.4 & Self.mask
        )
        let words = [a | b << 51, b >> 13 | c << 38, c >> 26 | d << 25, d >> 39 | e << 12]
        return words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
    }

    /// The same number with limbs below or just above 2^51.
    private var carried: FieldElement {
        var (a, b, c, d, e) = limbs
        b &+= a >> 51
        c &+= b >> 51
        d &+= c >> 51
        e &+= d >> 51
        a = (a & Self.mask) &+ 19 &* (e >> 51)
        return FieldElement(a, b & Self.mask, c & Self.mask, d & Self.mask, e & Self.mask)
    }

    static func + (x: FieldElement, y: FieldElement) -> FieldElement {
        FieldElement(
            x.limbs.0 &+ y.limbs.0, x.limbs.1 &+ y.limbs.1, x.limbs.2 &+ y.limbs.2, x.limbs.3 &+ y.limbs.3,
            x.limbs.4 &+ y.limbs.4
        ).carried
    }

    static prefix func - (x: FieldElement) -> FieldElement {
        // Twice the modulus, so that no limb underflows.
        let x = x.carried
        return FieldElement(
            0xF_FFFF_FFFF_FFDA &- x.limbs.0, 0xF_FFFF_FFFF_FFFE &- x.limbs.1, 0xF_FFFF_FFFF_FFFE &- x.limbs.2,
            0xF_FFFF_FFFF_FFFE &- x.limbs.3, 0xF_FFFF_FFFF_FFFE &- x.limbs.4
        ).carried
    }

    static func * (x: FieldElement, y: FieldElement) -> FieldElement {
        let (a0, a1, a2, a3, a4) = x.limbs
        let (b0, b1, b2, b3, b4) = y.limbs
        // 2^255 equals 19: the overflow of the highest limb is added 19 times to the lowest.
        let (c1, c2, c3, c4) = (19 &* b1, 19 &* b2, 19 &* b3, 19 &* b4)
        var r0 = wide(a0, b0) &+ wide(a1, c4) &+ wide(a2, c3) &+ wide(a3, c2) &+ wide(a4, c1)
        var r1 = wide(a0, b1) &+ wide(a1, b0) &+ wide(a2, c4) &+ wide(a3, c3) &+ wide(a4, c2)
        var r2 = wide(a0, b2) &+ wide(a1, b1) &+ wide(a2, b0) &+ wide(a3, c4) &+ wide(a4, c3)
        var r3 = wide(a0, b3) &+ wide(a1, b2) &+ wide(a2, b1) &+ wide(a3, b0) &+ wide(a4, c4)
        var r4 = wide(a0, b4) &+ wide(a1, b3) &+ wide(a2, b2) &+ wide(a3, b1) &+ wide(a4, b0)
        r1 &+= r0 >> 51
        r2 &+= r1 >> 51
        r3 &+= r2 >> 51
        r4 &+= r3 >> 51
        let mask = UInt128(Self.mask)
        r0 = (r0 & mask) &+ 19 &* (r4 >> 51)
        r1 = (r1 & mask) &+ r0 >> 51
        return FieldElement(
            UInt64(truncatingIfNeeded: r0 & mask), UInt64(truncatingIfNeeded: r1),
            UInt64(truncatingIfNeeded: r2 & mask), UInt64(truncatingIfNeeded: r3 & mask),
            UInt64(truncatingIfNeeded: r4 & mask))
    }

    private static func wide(_ a: UInt64, _ b: UInt64) -> UInt128 { UInt128(a) &* UInt128(b) }

    /// This number raised to a public exponent.
    ///
    /// - Parameter exponent: 32 bytes, little-endian.
    private func power(_ exponent: [UInt8]) -> FieldElement {
        var result = FieldElement(1)
        for bit in (0..<255).reversed() {
            result = result * result
            if exponent[bit / 8] >> (bit % 8) & 1 == 1 { result = result * self }
        }
        return result
    }

    /// The multiplicative inverse, whose product with this number is 1; 0 for 0.
    var inverse: FieldElement {
        // By Fermat's little theorem: raised to the modulus less 2.
        power([0xEB] + [UInt8](repeating: 0xFF, count: 30) + [0x7F])
    }

    /// 1 if this number is a square, else 0. By Euler's criterion: raised to half the modulus less 1, which gives 1, 0
    /// or -1.
    var isSquare: UInt64 {
        let symbol = power([0xF6] + [UInt8](repeating: 0xFF, count: 30) + [0x3F]).bytes
        // 1 and 0 have no nonzero byte above the lowest; -1 has.
        let high = symbol.dropFirst().reduce(0, |)
        return 1 - Self.isNotZero(high)
    }

    /// 1 if the number is 0, else 0.
    var isZero: UInt64 { 1 - Self.isNotZero(bytes.reduce(0, |)) }

    private static func isNotZero(_ byte: UInt8) -> UInt64 { (UInt64(byte) &+ 0xFF) >> 8 }

    /// Selects one of the two without a branch.
    ///
    /// - Parameter choice: 1 for the first, 0 for the second.
    static func select(_ choice: UInt64, _ x: FieldElement, _ y: FieldElement) -> FieldElement {
        let mask = 0 &- choice
        return FieldElement(
            y.limbs.0 ^ (mask & (x.limbs.0 ^ y.limbs.0)), y.limbs.1 ^ (mask & (x.limbs.1 ^ y.limbs.1)),
            y.limbs.2 ^ (mask & (x.limbs.2 ^ y.limbs.2)), y.limbs.3 ^ (mask & (x.limbs.3 ^ y.limbs.3)),
            y.limbs.4 ^ (mask & (x.limbs.4 ^ y.limbs.4)))
    }
}
