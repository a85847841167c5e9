import ElementalWire

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

extension ElementRepresentable {
    /// Encodes the value before the queue is locked, since its type may be the user's, and its code may do anything,
    /// such as send another value. Up to 1 KiB is encoded on the stack; text and data are used in place.
    @inlinable
    func withWireBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if Self.self == Data.self, let data = self as? Data { return data.withUnsafeBytes(body) }
        if Self.self == String.self, var text = self as? String {
            return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        }
        let length = wireByteCount
        return withUnsafeTemporaryAllocation(byteCount: max(length, 1), alignment: 16) { buffer in
            if let base = buffer.baseAddress { writeWireBytes(to: base) }
            return body(UnsafeRawBufferPointer(rebasing: buffer[..<length]))
        }
    }
}

extension ElementValue {
    /// The same for a value whose type is known only at run time.
    func withWireBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .data(let data): return data.withWireBytes(body)
        case .string(let text): return text.withWireBytes(body)
        default:
            return withUnsafeTemporaryAllocation(byteCount: max(wireByteCount, 1), alignment: 16) { buffer in
                if let base = buffer.baseAddress { writeWireBytes(to: base) }
                return body(UnsafeRawBufferPointer(rebasing: buffer[..<wireByteCount]))
            }
        }
    }
}
