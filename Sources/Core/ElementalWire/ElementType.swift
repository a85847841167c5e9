#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#elseif canImport(Foundation)
import struct Foundation.Data
#endif

/// The type of an element's values, on which both ends must agree.
///
/// The raw value is the type's code in a catalogue (the module Elemental's page "The wire"); the wire envelope itself
/// carries no type.
public enum ElementType: UInt8, Sendable, Hashable, CaseIterable {
    /// A signed integer of 1 byte.
    case int8 = 1
    /// An unsigned integer of 1 byte.
    case uint8 = 2
    /// A signed integer of 2 bytes, little-endian.
    case int16 = 3
    /// An unsigned integer of 2 bytes, little-endian.
    case uint16 = 4
    /// A signed integer of 4 bytes, little-endian.
    case int32 = 5
    /// An unsigned integer of 4 bytes, little-endian.
    case uint32 = 6
    /// A signed integer of 8 bytes, little-endian.
    case int64 = 7
    /// An unsigned integer of 8 bytes, little-endian.
    case uint64 = 8
    /// An IEEE 754 binary32 of 4 bytes, little-endian.
    case float = 9
    /// An IEEE 754 binary64 of 8 bytes, little-endian.
    case double = 10
    /// UTF-8 text of any length.
    case string = 11
    /// Bytes of any length.
    case data = 12
    /// One byte, 0 or 1.
    case bool = 13
    /// Two floats, 8 bytes.
    case float2 = 14
    /// Three floats, 12 bytes.
    case float3 = 15
    /// Four floats, 16 bytes.
    case float4 = 16
    /// Sixteen floats, 64 bytes.
    case float4x4 = 17

    /// Calls the visitor with the type's row in this table of value types: its name and the Swift type that stands for
    /// it, a ``ValueType`` with all other properties.
    @inline(__always)
    package func visit<Visitor: ElementTypeVisitor>(_ visitor: Visitor) -> Visitor.Result {
        switch self {
        case .int8: visitor.visit("int8", Int8.self)
        case .uint8: visitor.visit("uint8", UInt8.self)
        case .int16: visitor.visit("int16", Int16.self)
        case .uint16: visitor.visit("uint16", UInt16.self)
        case .int32: visitor.visit("int32", Int32.self)
        case .uint32: visitor.visit("uint32", UInt32.self)
        case .int64: visitor.visit("int64", Int64.self)
        case .uint64: visitor.visit("uint64", UInt64.self)
        case .float: visitor.visit("float", Float.self)
        case .double: visitor.visit("double", Double.self)
        case .string: visitor.visit("string", String.self)
        case .data: visitor.visit("data", Data.self)
        case .bool: visitor.visit("bool", Bool.self)
        case .float2: visitor.visit("float2", Vector2.self)
        case .float3: visitor.visit("float3", Vector3.self)
        case .float4: visitor.visit("float4", Vector4.self)
        case .float4x4: visitor.visit("float4x4", Matrix4x4.self)
        }
    }

    /// The number of bytes that every value of the type takes, or `nil` where the length varies.
    public var fixedByteCount: Int? { visit(ByteCountVisitor()) }

    /// Whether the type allows a range and a step: the integers, `float` and `double`.
    public var isNumeric: Bool { visit(NumericVisitor()) }

    /// Whether the values are vectors, which may have a range for each component: `float2`, `float3` and `float4`.
    public var isVector: Bool { visit(VectorVisitor()) }

    /// Whether the values are whole numbers.
    public var isInteger: Bool { visit(IntegerVisitor()) }

    /// Whether the type allows choices: the integers and `string`.
    public var takesChoices: Bool { isInteger || self == .string }

    /// The type's name, as the command line spells it: `int8` … `uint64`, `float`, `double`, `string`, `data`,
    /// `bool`, `float2`, `float3`, `float4`, `float4x4`.
    public var name: String { visit(NameVisitor()) }

    /// The type with that name, or `nil`.
    public init?(name: some StringProtocol) {
        guard let type = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = type
    }
}

extension ElementType: CustomStringConvertible {
    /// The type's name.
    public var description: String { name }
}

/// An operation on a value type's Swift type, at no cost at run time: the compiler makes one copy for each type.
package protocol ElementTypeVisitor {
    associatedtype Result
    func visit<Value: ValueType>(_ name: String, _: Value.Type) -> Result
}

extension ElementType {
    private struct ByteCountVisitor: ElementTypeVisitor {
        func visit<Value: ValueType>(_: String, _: Value.Type) -> Int? { Value.byteCount }
    }

    private struct NumericVisitor: ElementTypeVisitor {
        func visit<Value: ValueType>(_: String, _: Value.Type) -> Bool { Value.isNumeric }
    }

    private struct VectorVisitor: ElementTypeVisitor {
        func visit<Value: ValueType>(_: String, _: Value.Type) -> Bool { Value.isVector }
    }

    private struct IntegerVisitor: ElementTypeVisitor {
        func visit<Value: ValueType>(_: String, _: Value.Type) -> Bool { Value.isInteger }
    }

    private struct NameVisitor: ElementTypeVisitor {
        func visit<Value: ValueType>(_ name: String, _: Value.Type) -> String { name }
    }
}
