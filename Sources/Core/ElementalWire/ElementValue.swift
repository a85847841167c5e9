#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#elseif canImport(Foundation)
public import struct Foundation.Data
#endif

/// A value whose type is known only at run time: the framework's only untyped value.
///
/// The command line and bridges use it; programs that share an ``ElementCatalogue`` use typed elements instead.
public enum ElementValue: Sendable, Hashable {
    /// A value of type ``ElementType/int8``.
    case int8(Int8)
    /// A value of type ``ElementType/uint8``.
    case uint8(UInt8)
    /// A value of type ``ElementType/int16``.
    case int16(Int16)
    /// A value of type ``ElementType/uint16``.
    case uint16(UInt16)
    /// A value of type ``ElementType/int32``.
    case int32(Int32)
    /// A value of type ``ElementType/uint32``.
    case uint32(UInt32)
    /// A value of type ``ElementType/int64``.
    case int64(Int64)
    /// A value of type ``ElementType/uint64``.
    case uint64(UInt64)
    /// A value of type ``ElementType/float``.
    case float(Float)
    /// A value of type ``ElementType/double``.
    case double(Double)
    /// A value of type ``ElementType/string``.
    case string(String)
    /// A value of type ``ElementType/data``.
    case data(Data)
    /// A value of type ``ElementType/bool``.
    case bool(Bool)
    /// A value of type ``ElementType/float2``.
    case float2(Vector2)
    /// A value of type ``ElementType/float3``.
    case float3(Vector3)
    /// A value of type ``ElementType/float4``.
    case float4(Vector4)
    /// A value of type ``ElementType/float4x4``.
    case float4x4(Matrix4x4)

    /// Calls the visitor with the value as the Swift type that stands for its wire type.
    package func visit<Visitor: ElementValueVisitor>(_ visitor: Visitor) -> Visitor.Result {
        switch self {
        case .int8(let value): visitor.visit(value)
        case .uint8(let value): visitor.visit(value)
        case .int16(let value): visitor.visit(value)
        case .uint16(let value): visitor.visit(value)
        case .int32(let value): visitor.visit(value)
        case .uint32(let value): visitor.visit(value)
        case .int64(let value): visitor.visit(value)
        case .uint64(let value): visitor.visit(value)
        case .float(let value): visitor.visit(value)
        case .double(let value): visitor.visit(value)
        case .string(let value): visitor.visit(value)
        case .data(let value): visitor.visit(value)
        case .bool(let value): visitor.visit(value)
        case .float2(let value): visitor.visit(value)
        case .float3(let value): visitor.visit(value)
        case .float4(let value): visitor.visit(value)
        case .float4x4(let value): visitor.visit(value)
        }
    }

    /// The value's type.
    public var type: ElementType { visit(TypeVisitor()) }

    /// How many bytes the value takes on the wire, without the envelope.
    public var wireByteCount: Int { visit(ByteCountVisitor()) }

    /// The value as a number, or `nil` if its type is not numeric. Integers beyond 2^53 are rounded.
    public var numericValue: Double? { visit(NumberVisitor()) }

    /// The value of `type` whose wire form is `bytes`, or `nil` if no value of the type has that form.
    public init?(wireBytes bytes: UnsafeRawBufferPointer, type: ElementType) {
        guard let value = type.visit(ReadingVisitor(bytes: bytes)) else { return nil }
        self = value
    }

    /// The received value of `type`, or `nil` if no value of the type has that form.
    @inlinable
    public init?(received: ReceivedBytes, type: ElementType) {
        if type == .data, let long = received.long {
            self = .data(long)
        } else {
            self.init(wireBytes: received.bytes, type: type)
        }
    }
}
