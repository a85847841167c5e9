import Support
import Testing

struct CRC32Tests {
    @Test("checksums are those of zlib, in one piece or in several")
    func zlib() {
        var checksum = CRC32()
        checksum.add(Array("123456789".utf8))
        #expect(checksum.value == 0xCBF4_3926)
        var pieces = CRC32()
        for piece in [Array("1".utf8), Array("2345678".utf8), [], Array("9".utf8)] { pieces.add(piece) }
        #expect(pieces.value == checksum.value)
    }
}
