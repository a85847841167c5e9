#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#elseif canImport(Foundation)
import struct Foundation.Data
#endif

extension Bool: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .bool }

    /// Reads one byte, 0 or 1; `nil` for any other byte.
    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 1, bytes[0] <= 1 else { return nil }
        self = bytes[0] == 1
    }

    @inlinable
    public var wireByteCount: Int { 1 }

    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) { destination.append(self ? 1 : 0) }

    public var elementValue: ElementValue { .bool(self) }

    public init?(_ elementValue: ElementValue) {
        guard case .bool(let value) = elementValue else { return nil }
        self = value
    }
}

extension String: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .string }
    package static var byteCount: Int? { nil }

    /// Reads UTF-8 text; `nil` if the bytes are not valid UTF-8.
    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self = text
    }

    #if hasFeature(Embedded)
    public var wireByteCount: Int { utf8ByteCount }

    public func writeWireBytes(to destination: inout OutputRawSpan) {
        withBytes { write(UnsafeRawBufferPointer($0), to: &destination) }
    }
    #else
    @inlinable
    public var wireByteCount: Int { utf8.count }

    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        var copy = self
        copy.withUTF8 { write(UnsafeRawBufferPointer($0), to: &destination) }
    }
    #endif

    public var elementValue: ElementValue { .string(self) }

    public init?(_ elementValue: ElementValue) {
        guard case .string(let value) = elementValue else { return nil }
        self = value
    }
}

#if hasFeature(Embedded)
extension Array: ValueType where Element == UInt8 {
    package static var byteCount: Int? { nil }
}

extension Array: TextualValue where Element == UInt8 {}
#endif

/// Bytes, for a definition that is shared with a device without Foundation. The wire form is that of `Data`, which is
/// the better choice for long values because they are not copied.
extension Array: ElementRepresentable where Element == UInt8 {
    public static var elementType: ElementType { .data }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) { self.init(bytes) }

    @inlinable
    public var wireByteCount: Int { count }

    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        withUnsafeBytes { write($0, to: &destination) }
    }

    public var elementValue: ElementValue { .data(Data(self)) }

    public init?(_ elementValue: ElementValue) {
        guard case .data(let value) = elementValue else { return nil }
        self.init(value)
    }
}
