import TestSupport
import Testing

@testable import ElementalSecurity

struct ElligatorTests {
    /// RFC 9380, appendix J.4.2 (curve25519_XMD:SHA-512_ELL2_NU_), the empty message.
    @Test
    func thePointOfTheStandard() {
        let number = bytes("608d892b641f0328523802a6603427c26e55e6f27e71a91a478148d45b5093cd")
        let point = bytes("51125222da5e763d97f3c10fcc92ea6860b9ccbbd2eb1285728f566721c1e65b")
        #expect(Elligator2.map(number.reversed()) == Array(point.reversed()))
    }

    /// Both ends of the field, and the numbers that are the same in it.
    @Test
    func numbersBeyondTheModulusAreTheSame() {
        let modulus = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        #expect(Elligator2.map(modulus) == Elligator2.map([UInt8](repeating: 0, count: 32)))
        #expect(Elligator2.map([0xEE] + modulus.dropFirst()) == Elligator2.map([1] + [UInt8](repeating: 0, count: 31)))
        // The first candidate for 0 is -486662, whose right-hand side is no square, and so it is the second: 0.
        #expect(Elligator2.map(modulus) == [UInt8](repeating: 0, count: 32))
    }

    /// 2^255 - 19 and its neighbours, and limbs that are full.
    @Test
    func arithmeticHoldsAtTheEdges() {
        let one = FieldElement(1)
        let largest = -one
        #expect((largest * largest).bytes == one.bytes)
        #expect((largest + one).bytes == FieldElement(0).bytes)
        #expect(largest.bytes == [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F])
        #expect((largest + largest).bytes == (-FieldElement(2)).bytes)
        #expect((largest.inverse).bytes == largest.bytes)
        #expect(FieldElement(0).inverse.bytes == FieldElement(0).bytes)
        var random = SeededGenerator(seed: 17)
        for _ in 0..<200 {
            let x = FieldElement(bytes: random.bytes(32))
            #expect((x * x.inverse).bytes == one.bytes)
            #expect((x * x).isSquare == 1)
            // 2 is no square in this field.
            #expect((x * x * FieldElement(2)).isSquare == 0)
            #expect((x + -x).isZero == 1)
            #expect(FieldElement(bytes: x.bytes).bytes == x.bytes)
        }
    }
}
