import ElementalWire

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

extension ElementRepresentable {
    /// Encodes the value before the queue is locked, since its type may be the user's, and its code may do anything,
    /// such as send another value. Up to 1 KiB is encoded on the stack; text and data are used in place.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/invalidValue`` if the value writes fewer bytes than
    ///   its `wireByteCount`.
    @inlinable
    func withWireBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(ElementalError) -> Result {
        if Self.self == Data.self, let data = self as? Data { return data.withUnsafeBytes(body) }
        if Self.self == String.self, var text = self as? String {
            return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        }
        let length = wireByteCount
        var count = 0
        let result: Result? = withUnsafeTemporaryAllocation(byteCount: length, alignment: 16) { buffer in
            count = write(to: buffer)
            return count == length ? body(UnsafeRawBufferPointer(buffer)) : nil
        }
        guard let result else { throw .wrongByteCount(Self.self, count, of: length) }
        return result
    }
}

extension ElementalError {
    @usableFromInline
    static func wrongByteCount(_ type: Any.Type, _ count: Int, of length: Int) -> ElementalError {
        ElementalError(
            .invalidValue,
            "a value of type \(type) wrote \(count) bytes and has a wireByteCount of \(length); correct the type")
    }
}

extension ElementValue {
    /// The same for a value whose type is known only at run time.
    func withWireBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(ElementalError) -> Result {
        switch self {
        case .data(let data): return try data.withWireBytes(body)
        case .string(let text): return try text.withWireBytes(body)
        default:
            return withUnsafeTemporaryAllocation(byteCount: wireByteCount, alignment: 16) { buffer in
                _ = write(to: buffer)
                return body(UnsafeRawBufferPointer(buffer))
            }
        }
    }
}
