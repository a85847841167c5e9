import NIOCore
import NIOFoundationEssentialsCompat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONDecoder {
    /// Decodes the value in the bytes. JSON may escape half a surrogate pair, which a Swift string cannot hold: it is
    /// read as U+FFFD, like other invalid text.
    func decodeRepairing<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws -> Value {
        do {
            return try decode(type, from: bytes)
        } catch {
            guard let repaired = bytes.replacingLoneSurrogates() else { throw error }
            return try decode(type, from: repaired)
        }
    }
}

extension ByteBuffer {
    /// JSON with the escapes of half surrogate pairs replaced; `nil` if there are none.
    func replacingLoneSurrogates() -> ByteBuffer? {
        let view = readableBytesView
        var (repaired, isRepaired) = (self, false)
        var index = view.startIndex
        while let escape = view[index...].firstIndex(of: UInt8(ascii: "\\")) {
            let width = min(2, view.endIndex - escape)
            index = escape + width
            guard let unit = Self.escapedUnit(view, escape) else { continue }
            index = escape + 6
            if unit & 0xFC00 == 0xD800, let low = Self.escapedUnit(view, index), low & 0xFC00 == 0xDC00 {
                index += 6
            } else if unit & 0xF800 == 0xD800 {
                repaired.setString("\\ufffd", at: escape)
                isRepaired = true
            }
        }
        return isRepaired ? repaired : nil
    }

    /// The code unit of an escape such as `\u00e9` at an index, if there is one.
    private static func escapedUnit(_ view: ByteBufferView, _ index: Int) -> UInt16? {
        guard view.endIndex - index >= 6, view[index] == UInt8(ascii: "\\"), view[index + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt16(String(decoding: view[index + 2..<index + 6], as: UTF8.self), radix: 16)
    }
}
