#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#elseif canImport(Foundation)
public import struct Foundation.Data
#endif

/// A Swift type that can be the value of an element.
///
/// The types of the wire table conform: the fixed-width integers, `Float`, `Double`, `Bool`, `String`, `Data`,
/// `[UInt8]`, ``Vector2``, ``Vector3``, ``Vector4``, ``Matrix4x4``, and ``JSON`` for any `Codable` value. An enum whose raw
/// values are integers or strings only has to declare that it conforms.
public protocol ElementRepresentable: Sendable {
    /// The wire type that carries values of this Swift type.
    static var elementType: ElementType { get }

    /// The value whose wire form is `bytes`, or `nil` if no value has that form (a wrong length, invalid UTF-8).
    init?(wireBytes bytes: UnsafeRawBufferPointer)

    /// The received value, or `nil` if no value has that form. The default calls ``init(wireBytes:)``.
    init?(received: ReceivedBytes)

    /// How many bytes the value takes on the wire, without the envelope.
    var wireByteCount: Int { get }

    /// Appends the value's wire form, exactly ``wireByteCount`` bytes, to `destination`, which has room for them.
    ///
    /// Numbers, texts and data append themselves, whatever is before them:
    /// ```swift
    /// func writeWireBytes(to destination: inout OutputRawSpan) {
    ///     hour.writeWireBytes(to: &destination)
    ///     minute.writeWireBytes(to: &destination)
    /// }
    /// ```
    /// More bytes stop the program before they are written. If there are fewer, sending throws.
    func writeWireBytes(to destination: inout OutputRawSpan)

    /// Writes the value's wire form to memory of ``wireByteCount`` bytes, unchecked.
    @available(*, deprecated, message: "use writeWireBytes(to: inout OutputRawSpan)")
    func writeWireBytes(to destination: UnsafeMutableRawPointer)

    /// The value's wire form if it is long and already in memory: a connection then sends it without copying it.
    /// Otherwise, and by default, `nil`.
    var longWireBytes: Data? { get }

    /// The value as a number, to check it against a range; `nil` for types that are not numbers.
    var rangeValue: Double? { get }

    /// Whether the value, or each component of a vector, is within a range. NaN is in none. The default asks
    /// ``rangeValue``, and is true where that is `nil`.
    func isWithin(_ range: ClosedRange<Double>) -> Bool

    /// The value as the untyped ``ElementValue``.
    var elementValue: ElementValue { get }

    /// The value that `elementValue` holds, or `nil` if that is of another type.
    init?(_ elementValue: ElementValue)
}

extension ElementRepresentable {
    @inlinable
    public var rangeValue: Double? { nil }

    @inlinable
    public func isWithin(_ range: ClosedRange<Double>) -> Bool { rangeValue.map { range.contains($0) } ?? true }

    @inlinable
    public init?(received: ReceivedBytes) { self.init(wireBytes: received.bytes) }

    @inlinable
    public var longWireBytes: Data? { nil }
}

extension ElementRepresentable where Self: FixedWidthInteger {
    @inlinable
    public var rangeValue: Double? { Double(self) }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        self.init(littleEndian: bytes.loadUnaligned(as: Self.self))
    }

    @inlinable
    public var wireByteCount: Int { MemoryLayout<Self>.size }

    @inlinable
    @inline(__always)
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        write(MemoryLayout<Self>.size, to: &destination) { $0.storeBytes(of: littleEndian, as: Self.self) }
    }
}

// An enum, or another type with a raw value, travels as that value.
extension ElementRepresentable where Self: RawRepresentable, RawValue: ElementRepresentable {
    public static var elementType: ElementType { RawValue.elementType }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard let rawValue = RawValue(wireBytes: bytes) else { return nil }
        self.init(rawValue: rawValue)
    }

    @inlinable
    public var wireByteCount: Int { rawValue.wireByteCount }

    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) { rawValue.writeWireBytes(to: &destination) }

    public var elementValue: ElementValue { rawValue.elementValue }

    public init?(_ elementValue: ElementValue) {
        guard let rawValue = RawValue(elementValue) else { return nil }
        self.init(rawValue: rawValue)
    }
}

@available(
    *, unavailable,
    message: """
        Int has no fixed size; an element takes Int8...Int64, UInt8...UInt64, Float, Double, Bool, String, Data, [UInt8], \
        Vector2...Vector4, Matrix4x4, JSON, or an enum with such raw values
        """
)
extension Int: ElementRepresentable {
    public static var elementType: ElementType { .int64 }
    public var elementValue: ElementValue { .int64(Int64(self)) }
    public init?(_: ElementValue) { nil }
}

extension Int8: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .int8 }
    public var elementValue: ElementValue { .int8(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .int8(let value) = elementValue else { return nil }
        self = value
    }
}

extension UInt8: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .uint8 }
    public var elementValue: ElementValue { .uint8(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .uint8(let value) = elementValue else { return nil }
        self = value
    }
}

extension Int16: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .int16 }
    public var elementValue: ElementValue { .int16(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .int16(let value) = elementValue else { return nil }
        self = value
    }
}

extension UInt16: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .uint16 }
    public var elementValue: ElementValue { .uint16(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .uint16(let value) = elementValue else { return nil }
        self = value
    }
}

extension Int32: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .int32 }
    public var elementValue: ElementValue { .int32(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .int32(let value) = elementValue else { return nil }
        self = value
    }
}

extension UInt32: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .uint32 }
    public var elementValue: ElementValue { .uint32(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .uint32(let value) = elementValue else { return nil }
        self = value
    }
}

extension Int64: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .int64 }
    public var elementValue: ElementValue { .int64(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .int64(let value) = elementValue else { return nil }
        self = value
    }
}

extension UInt64: ElementRepresentable, ValueType {
    public static var elementType: ElementType { .uint64 }
    public var elementValue: ElementValue { .uint64(self) }
    public init?(_ elementValue: ElementValue) {
        guard case .uint64(let value) = elementValue else { return nil }
        self = value
    }
}
