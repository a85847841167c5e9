#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A value whose type is only known at run time: an argument from a command line, a result to display.
public enum HubValue: Sendable, Hashable, Codable {
    /// No value.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// An integer in the range of `Int64`.
    case integer(Int64)
    /// An integer beyond the range of `integer`.
    case unsigned(UInt64)
    /// A floating-point number.
    case double(Double)
    /// A whole number beyond the ranges of `integer` and `unsigned`, with up to 38 digits. JSON only: MessagePack
    /// writes it as a `double`.
    case decimal(Decimal)
    /// A text.
    case string(String)
    /// MessagePack only; JSON writes it as a base64 string.
    case data(Data)
    /// A list of values.
    case array([HubValue])
    /// Values by name.
    case object([String: HubValue])

    /// Decodes a value of any type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        func decoded<Value: Decodable>(_ make: (Value) -> HubValue) -> HubValue? {
            (try? container.decode(Value.self)).map(make)
        }
        if container.decodeNil() {
            self = .null
        } else if let value = decoded(HubValue.bool) ?? decoded(HubValue.integer) ?? decoded(HubValue.unsigned) {
            self = value
        } else if let value = try? container.decode(Double.self) {
            // A double cannot hold all digits of a whole number this large.
            let isLarge = (0x1p63..<1e38).contains(value.magnitude) && !(decoder is MessagePackValue)
            let decimal = try? isLarge ? container.decode(Decimal.self) : nil
            self = decimal.flatMap { $0.isWhole ? HubValue.decimal($0) : nil } ?? .double(value)
        } else if let value = decoded(HubValue.string) ?? (decoder is MessagePackValue ? decoded(HubValue.data) : nil) {
            self = value
        } else if var items = try? decoder.unkeyedContainer() {
            var values: [HubValue] = []
            while !items.isAtEnd { values.append(try items.decode(HubValue.self)) }
            self = .array(values)
        } else {
            self = .object(try container.decode([String: HubValue].self))
        }
    }

    /// Encodes the value as its own type.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value) where encoder is MessagePackNode:
            try container.encode(Double(value.description) ?? .infinity)
        case .decimal(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }
}

extension Decimal {
    fileprivate var isWhole: Bool { exponent >= 0 || !description.contains(".") }
}
