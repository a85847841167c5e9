/// The type of an element's value, as both ends must agree on it.
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

    /// The number of bytes that every value of the type takes, or `nil` where the length varies.
    @inlinable
    public var fixedByteCount: Int? {
        switch self {
        case .int8, .uint8, .bool: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .float: 4
        case .int64, .uint64, .double, .float2: 8
        case .float3: 12
        case .float4: 16
        case .float4x4: 64
        case .string, .data: nil
        }
    }

    /// The type's name, as the command line spells it: `int8` … `uint64`, `float`, `double`, `string`, `data`,
    /// `bool`, `float2`, `float3`, `float4`, `float4x4`.
    public var name: String { description }

    /// The type with that name, or `nil`.
    public init?(name: some StringProtocol) {
        guard let type = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = type
    }

    /// Whether a range and a step mean something for the type: the integers, `float` and `double`.
    @inlinable
    public var isNumeric: Bool { rawValue <= Self.double.rawValue }

    /// Whether the values are whole numbers.
    @inlinable
    public var isInteger: Bool { rawValue <= Self.uint64.rawValue }

    /// Whether the values of an element can be listed as its choices: those of the integers and `string`.
    public var takesChoices: Bool { isInteger || self == .string }
}

extension ElementType: CustomStringConvertible {
    /// The type's name.
    public var description: String {
        switch self {
        case .int8: "int8"
        case .uint8: "uint8"
        case .int16: "int16"
        case .uint16: "uint16"
        case .int32: "int32"
        case .uint32: "uint32"
        case .int64: "int64"
        case .uint64: "uint64"
        case .float: "float"
        case .double: "double"
        case .string: "string"
        case .data: "data"
        case .bool: "bool"
        case .float2: "float2"
        case .float3: "float3"
        case .float4: "float4"
        case .float4x4: "float4x4"
        }
    }
}
