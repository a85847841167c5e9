internal import ElementalFollowing
internal import ElementalWire
internal import Support

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// A value as a message of a recording: a JSON object with the member `value`.
extension ElementValue {
    fileprivate static let components = ["x", "y", "z", "w"]

    /// Appends `{"value":…}`: numbers with all their digits, with the strings `nan`, `inf` and `-inf` for NaN and
    /// infinities; vectors as objects with `x`, `y`, `z` and `w`; a matrix as its 16 numbers, column by column; data in
    /// base64.
    func appendMessage(to bytes: inout [UInt8]) {
        bytes += "{\"value\":".utf8
        if case .data(let data) = self {
            bytes += "\"".utf8
            bytes += data.base64EncodedData()
            bytes += "\"}".utf8
            return
        }
        if type.isVector, case .floats(let numbers) = plainForm {
            bytes += JSONText.object(zip(Self.components, numbers).map { ($0, JSONText($1)) }).text.utf8
        } else {
            bytes += json.text.utf8
        }
        bytes += "}".utf8
    }

    init?(_ reader: inout JSONReader, _ type: ElementType) {
        var value: ElementValue?
        switch (type, reader.kind()) {
        case (.string, .string): value = reader.string().map { .string($0) }
        case (.data, .string): value = reader.string().flatMap { Data(base64Encoded: $0) }.map { .data($0) }
        case (.bool, .bool): value = reader.bool().map { .bool($0) }
        case (.string, _), (.data, _), (.bool, _): break
        default: value = Self.numbers(&reader).flatMap { try? ElementValue(text: $0, type: type) }
        }
        guard let value else { return nil }
        self = value
    }

    /// Reads numbers as text: one, a list, or a vector's components.
    private static func numbers(_ reader: inout JSONReader) -> String? {
        switch reader.kind() {
        case .number, .string: return number(&reader)
        case .array:
            var numbers: [String] = []
            let isWhole = reader.array { reader in
                guard numbers.count < 16, let number = number(&reader) else { return false }
                numbers.append(number)
                return true
            }
            return isWhole ? numbers.joined(separator: ",") : nil
        case .object:
            var numbers: [String: String] = [:]
            let isWhole = reader.object { name, reader in
                guard components.contains(name) else { return reader.skip() != nil }
                numbers[name] = number(&reader)
                return numbers[name] != nil
            }
            return isWhole ? components.compactMap { numbers[$0] }.joined(separator: ",") : nil
        case .bool, .null, nil: return nil
        }
    }

    /// Reads a number, or the string for one that JSON cannot represent.
    private static func number(_ reader: inout JSONReader) -> String? {
        reader.kind() == .string ? reader.string() : reader.number()
    }
}

extension ElementType {
    var messageSchema: MCAP.Schema {
        func type(_ name: String, _ more: JSONText.Members = []) -> JSONText {
            .object([("type", .string(name))] + more)
        }
        let value: JSONText
        switch self {
        case .bool: value = type("boolean")
        case .string: value = type("string")
        case .data: value = type("string", [("contentEncoding", .string("base64"))])
        case .float2, .float3, .float4:
            let components = ElementValue.components.prefix((fixedByteCount ?? 0) / 4)
            value = type("object", [("properties", .object(components.map { ($0, type("number")) }))])
        case .float4x4: value = type("array", [("items", type("number"))])
        default: value = type(isInteger ? "integer" : "number")
        }
        let schema = type(
            "object",
            [
                ("title", .string("elemental.\(name)")), ("properties", .object([("value", value)])),
                ("required", .array([.string("value")])),
            ])
        return MCAP.Schema(id: UInt16(rawValue), name: "elemental.\(name)", text: schema.text)
    }
}
