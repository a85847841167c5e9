/// Reads the MessagePack that the chat program sends. Strings are bytes: its invocation identifier is no UTF-8.
struct MessagePackReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// The number of elements of an array, or nil if the value is not an array.
    mutating func array() -> Int? {
        guard let byte = bytes.first, byte & 0xF0 == 0x90 else { return nil }
        bytes.removeFirst()
        return Int(byte & 0x0F)
    }

    /// A small number, 0...127.
    mutating func number() -> UInt8? {
        guard let byte = bytes.first, byte < 0x80 else { return nil }
        bytes.removeFirst()
        return byte
    }

    /// A string's bytes: fixstr, str 8 or str 16.
    mutating func string() -> ArraySlice<UInt8>? {
        guard let byte = bytes.popFirst() else { return nil }
        let count: Int
        switch byte {
        case 0xA0...0xBF: count = Int(byte & 0x1F)
        case 0xD9:
            guard let length = bytes.popFirst() else { return nil }
            count = Int(length)
        case 0xDA:
            guard let high = bytes.popFirst(), let low = bytes.popFirst() else { return nil }
            count = Int(high) << 8 | Int(low)
        default: return nil
        }
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    /// Passes over an empty map, nil, a string, or a number of two bytes, which aiosignalr writes for an empty map.
    mutating func skip() -> Bool {
        switch bytes.first {
        case 0x80, 0xC0:
            bytes.removeFirst()
            return true
        case 0xCC where bytes.count >= 2:
            bytes = bytes.dropFirst(2)
            return true
        default: return string() != nil
        }
    }
}
