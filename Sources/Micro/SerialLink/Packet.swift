/// The bytes of a packet, as the page "The serial line" describes them.
enum Packet {
    /// Requests a session, or answers a request.
    static let open: UInt8 = 1
    /// Carries bytes of the session, or only an acknowledgement.
    static let data: UInt8 = 2
    /// Set in the first byte of a data packet by an end that missed bytes: it requests a repetition from its
    /// acknowledgement on.
    static let repeatFlag: UInt8 = 0x80

    /// The version of the line's protocol.
    static let version: UInt8 = 1
    /// The bytes before those of the session.
    static let headerByteCount = 8
    /// The bytes of the CRC after them.
    static let checkByteCount = 4
    /// The bytes that COBS and the delimiter add to a body of at most 254 bytes.
    static let framingByteCount = 2
    /// The bytes of a packet on the line besides those of the session.
    static let overheadByteCount = headerByteCount + checkByteCount + framingByteCount
    /// The longest body: COBS adds one byte to it.
    static let maximumBodyByteCount = 254
    /// The unit of the window in packets, in bytes.
    static let windowUnit = 16

    static func word(_ bytes: UnsafePointer<UInt8>, _ offset: Int) -> UInt16 {
        UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8
    }

    static func store(_ word: UInt16, _ bytes: UnsafeMutablePointer<UInt8>, _ offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: word)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: word >> 8)
    }

    /// Returns the length of a body without its CRC, in bytes, or `nil` if the body is too short or the CRC is wrong.
    static func checkedByteCount(_ body: UnsafePointer<UInt8>, _ count: Int) -> Int? {
        let length = count - checkByteCount
        guard length >= headerByteCount else { return nil }
        let check = UInt32(word(body, length)) | UInt32(word(body, length + 2)) << 16
        return CRC32.of(body, length) == check ? length : nil
    }

    /// Adds the CRC to a body of `count` bytes that begins at `packet + 1`, encodes it in place from `packet` on, and ends
    /// it with the delimiter.
    ///
    /// - Returns: the bytes of the packet on the line.
    static func seal(_ packet: UnsafeMutablePointer<UInt8>, bodyByteCount count: Int) -> Int {
        let check = CRC32.of(packet + 1, count)
        store(UInt16(truncatingIfNeeded: check), packet, 1 + count)
        store(UInt16(truncatingIfNeeded: check >> 16), packet, 3 + count)
        let end = 1 + count + checkByteCount
        var code = 0
        for index in 1..<end where packet[index] == 0 {
            packet[code] = UInt8(index - code)
            code = index
        }
        packet[code] = UInt8(end - code)
        packet[end] = 0
        return end + 1
    }
}
