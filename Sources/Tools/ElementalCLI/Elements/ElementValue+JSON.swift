import Elemental

extension ElementValue {
    /// The value in JSON: numbers as numbers with all their digits, vectors and matrices as arrays of numbers, data as
    /// a string of hexadecimal digits.
    var json: JSONText {
        switch self {
        case .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .uint64: .number(description)
        case .float(let value): JSONText(value)
        case .double(let value): JSONText(value)
        case .bool(let value): .bool(value)
        case .string, .data: .string(description)
        case .float2(let vector): .array([vector.x, vector.y].map { JSONText($0) })
        case .float3(let vector): .array([vector.x, vector.y, vector.z].map { JSONText($0) })
        case .float4(let vector): .array([vector.x, vector.y, vector.z, vector.w].map { JSONText($0) })
        case .float4x4(let matrix): .array(matrix.elements.map { JSONText($0) })
        }
    }
}

extension ElementDefinition {
    /// The element's choices in JSON: of a number its value and name, of a string the text. `null` if it has none.
    var choicesJSON: JSONText {
        guard !choices.isEmpty else { return .null }
        return .array(
            choices.map { choice in
                type == .string
                    ? .string(choice.name)
                    : .object([("value", choice.value.json), ("name", .string(choice.name))])
            })
    }
}
