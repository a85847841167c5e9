/// Reads little-endian fields one after the other; every read past the end is `nil`.
package struct ByteReader {
    private var rest: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    package var isAtEnd: Bool { rest.isEmpty }
    /// The bytes that are not read yet.
    package var remaining: UnsafeRawBufferPointer { rest }

    package mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard rest.count >= count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    package mutating func uint8() -> UInt8? { bytes(1).flatMap(UInt8.init(wireBytes:)) }
    package mutating func uint16() -> UInt16? { bytes(2).flatMap(UInt16.init(wireBytes:)) }
    package mutating func uint32() -> UInt32? { bytes(4).flatMap(UInt32.init(wireBytes:)) }
    package mutating func uint64() -> UInt64? { bytes(8).flatMap(UInt64.init(wireBytes:)) }
    package mutating func double() -> Double? { bytes(8).flatMap(Double.init(wireBytes:)) }

    /// Reads a byte count of one byte, then that many bytes.
    package mutating func countedBytes() -> UnsafeRawBufferPointer? { uint8().flatMap { bytes(Int($0)) } }
}
