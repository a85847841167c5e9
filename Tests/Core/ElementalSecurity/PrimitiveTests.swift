import Testing

@testable import ElementalSecurity

struct PrimitiveTests {
    /// RFC 5869, appendix A.1 and A.3.
    @Test
    func keysAreDerivedAsTheStandardDoes() {
        let first = Primitives.hkdfSHA256(
            secret: [UInt8](repeating: 0x0B, count: 22), salt: Array(0...12), info: Array(0xF0...0xF9), byteCount: 42)
        #expect(
            first == bytes("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
        let third = Primitives.hkdfSHA256(
            secret: [UInt8](repeating: 0x0B, count: 22), salt: [], info: [], byteCount: 42)
        #expect(
            third == bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
    }

    /// RFC 7748, section 5.2.
    @Test
    func aScalarAndAPointGiveTheStandardsProduct() {
        let scalar = bytes("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4")
        let point = bytes("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
        #expect(
            Primitives.x25519(scalar, point)
                == bytes("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"))
        #expect(Primitives.x25519(scalar, Array(point.dropLast())) == nil)
    }

    /// RFC 4231, test case 2.
    @Test
    func messagesAreAuthenticatedAsTheStandardDoes() {
        let key = Array("Jefe".utf8)
        let message = Array("what do ya want for nothing?".utf8)
        #expect(
            Primitives.hmacSHA256(key: key, message)
                == bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(
            Primitives.hmacSHA512(key: key, message)
                == bytes(
                    """
                    164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd
                    caeab1a34d4a6b4b636e070a38bce737
                    """))
    }

    @Test
    func secretsAreErasedAndCompared() {
        var secret: [UInt8] = [1, 2, 3]
        Primitives.erase(&secret)
        #expect(secret == [0, 0, 0])
        #expect(Primitives.isEqual([1, 2], [1, 2]))
        #expect(!Primitives.isEqual([1, 2], [1, 3]))
        #expect(!Primitives.isEqual([1, 2], [1, 2, 3]))
        #expect(Primitives.isEqual([], []))
    }
}
