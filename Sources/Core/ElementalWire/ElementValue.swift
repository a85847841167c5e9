#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#elseif canImport(Foundation)
public import struct Foundation.Data
#endif

/// A value whose type is known at run time only: the one untyped door of the framework.
///
/// The command line and bridges use it; programs that share an ``ElementCatalogue`` use typed elements instead.
public enum ElementValue: Sendable, Hashable {
    case int8(Int8)
    case uint8(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case bool(Bool)
    case float2(Vector2)
    case float3(Vector3)
    case float4(Vector4)
    case float4x4(Matrix4x4)

    /// The value's type.
    public var type: ElementType { visit(TypeVisitor()) }

    /// How many bytes the value takes on the wire, without the envelope.
    public var wireByteCount: Int { visit(ByteCountVisitor()) }

    /// Writes the value's wire form, exactly ``wireByteCount`` bytes, to `destination`.
    public func writeWireBytes(to destination: UnsafeMutableRawPointer) {
        visit(WritingVisitor(destination: destination))
    }

    /// The value as a number, or `nil` if its type is not numeric. Integers beyond 2^53 are rounded.
    public var numericValue: Double? { visit(NumberVisitor()) }

    /// The value of `type` whose wire form is `bytes`, or `nil` if no value of the type has that form.
    public init?(wireBytes bytes: UnsafeRawBufferPointer, type: ElementType) {
        func decode<Value: ElementRepresentable>(_: Value.Type) -> ElementValue? {
            Value(wireBytes: bytes)?.elementValue
        }
        let value: ElementValue? =
            switch type {
            case .int8: decode(Int8.self)
            case .uint8: decode(UInt8.self)
            case .int16: decode(Int16.self)
            case .uint16: decode(UInt16.self)
            case .int32: decode(Int32.self)
            case .uint32: decode(UInt32.self)
            case .int64: decode(Int64.self)
            case .uint64: decode(UInt64.self)
            case .float: decode(Float.self)
            case .double: decode(Double.self)
            case .string: decode(String.self)
            case .data: decode(Data.self)
            case .bool: decode(Bool.self)
            case .float2: decode(Vector2.self)
            case .float3: decode(Vector3.self)
            case .float4: decode(Vector4.self)
            case .float4x4: decode(Matrix4x4.self)
            }
        guard let value else { return nil }
        self = value
    }

    /// The value of `type` that came, or `nil` if no value of the type has that form.
    @inlinable
    public init?(received: ReceivedBytes, type: ElementType) {
        if type == .data, let long = received.long {
            self = .data(long)
        } else {
            self.init(wireBytes: received.bytes, type: type)
        }
    }
}
