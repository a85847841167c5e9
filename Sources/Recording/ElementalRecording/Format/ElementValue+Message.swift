internal import ElementalWire
internal import Support

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// A value as a message of a recording: a JSON object with the member `value`.
extension ElementValue {
    /// The names of a vector's components, as plots call them.
    private static let components = ["x", "y", "z", "w"]

    /// Appends `{"value":…}`: numbers with all their digits, where NaN and infinities are the strings `nan`, `inf` and
    /// `-inf`; vectors as objects with `x`, `y`, `z` and `w`; a matrix as its 16 numbers, column by column; data in base64.
    func appendMessage(to bytes: inout RecordBytes) {
        bytes.add("{\"value\":".utf8)
        if case .data(let data) = self {
            bytes.add("\"".utf8)
            bytes.add(data.base64EncodedData())
            bytes.add("\"}".utf8)
            return
        }
        switch plainForm {
        case .integer(let digits): bytes.add(digits.utf8)
        case .float(let number): bytes.add(JSONText(number).text.utf8)
        case .double(let number): bytes.add(JSONText(number).text.utf8)
        case .bool(let value): bytes.add((value ? "true" : "false").utf8)
        case .text(let text): bytes.add(JSONText.string(text).text.utf8)
        case .floats(let numbers) where numbers.count <= Self.components.count:
            bytes.add(JSONText.object(zip(Self.components, numbers).map { ($0, JSONText($1)) }).text.utf8)
        case .floats(let numbers): bytes.add(JSONText.array(numbers.map { JSONText($0) }).text.utf8)
        }
        bytes.add("}".utf8)
    }

    /// Reads a value of the type from a message; `nil` if it has none.
    init?(message: [UInt8], type: ElementType) {
        var value: ElementValue?
        message.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            let isWhole = reader.object { name, reader in
                guard name == "value", value == nil else { return reader.skip() != nil }
                value = ElementValue(&reader, type)
                return value != nil
            }
            if !isWhole || !reader.isAtEnd() { value = nil }
        }
        guard let value else { return nil }
        self = value
    }

    /// Reads a value of the type.
    init?(_ reader: inout JSONReader, _ type: ElementType) {
        var text: String?
        switch (type, reader.kind()) {
        case (.string, .string):
            guard let string = reader.string() else { return nil }
            self = .string(string)
            return
        case (.data, .string):
            guard let data = reader.string().flatMap({ Data(base64Encoded: $0) }) else { return nil }
            self = .data(data)
            return
        case (.bool, .bool):
            guard let bool = reader.bool() else { return nil }
            self = .bool(bool)
            return
        case (_, .number), (_, .string): text = Self.scalar(&reader)
        case (_, .array):
            var numbers: [String] = []
            let isWhole = reader.array { reader in
                guard numbers.count < 16, let number = Self.scalar(&reader) else { return false }
                numbers.append(number)
                return true
            }
            if isWhole { text = numbers.joined(separator: ",") }
        case (_, .object):
            var numbers: [String: String] = [:]
            let isWhole = reader.object { name, reader in
                guard Self.components.contains(name) else { return reader.skip() != nil }
                numbers[name] = Self.scalar(&reader)
                return numbers[name] != nil
            }
            if isWhole { text = Self.components.compactMap { numbers[$0] }.joined(separator: ",") }
        default: return nil
        }
        guard let text, !type.isText, let value = try? ElementValue(text: text, type: type) else { return nil }
        self = value
    }

    /// A number, or the word for one that JSON does not have.
    private static func scalar(_ reader: inout JSONReader) -> String? {
        reader.kind() == .string ? reader.string() : reader.number()
    }
}

extension ElementType {
    fileprivate var isText: Bool { self == .string || self == .data || self == .bool }

    /// The JSON schema of the type's messages.
    var messageSchema: MCAP.Schema {
        func object(_ members: JSONText.Members) -> JSONText { .object([("type", .string("object"))] + members) }
        let number = JSONText.object([("type", .string("number"))])
        let components = ["x", "y", "z", "w"]
        let value: JSONText
        switch self {
        case .bool: value = .object([("type", .string("boolean"))])
        case .string: value = .object([("type", .string("string"))])
        case .data: value = .object([("type", .string("string")), ("contentEncoding", .string("base64"))])
        case .float2, .float3, .float4:
            let count = (fixedByteCount ?? 0) / 4
            value = object([("properties", .object(components.prefix(count).map { ($0, number) }))])
        case .float4x4: value = .object([("type", .string("array")), ("items", number)])
        default: value = isInteger ? .object([("type", .string("integer"))]) : number
        }
        let schema = object([
            ("title", .string("elemental.\(name)")), ("properties", .object([("value", value)])),
            ("required", .array([.string("value")])),
        ])
        return MCAP.Schema(
            id: UInt16(rawValue), name: "elemental.\(name)", encoding: "jsonschema", data: Array(schema.text.utf8))
    }
}
