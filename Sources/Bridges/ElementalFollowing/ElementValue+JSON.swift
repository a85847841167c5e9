package import Elemental
internal import ElementalWire
package import Support

extension ElementValue {
    /// The value in JSON: numbers with all their digits, vectors and matrices as arrays of numbers, data as a string of
    /// hexadecimal digits.
    package var json: JSONText {
        switch plainForm {
        case .integer(let digits): .number(digits)
        case .float(let number): JSONText(number)
        case .double(let number): JSONText(number)
        case .bool(let value): .bool(value)
        case .text(let text): .string(text)
        case .floats(let numbers): .array(numbers.map { JSONText($0) })
        }
    }
}

extension ElementDefinition {
    /// The element's choices in JSON: for a string its texts, otherwise objects of value and name; `null` if it has
    /// none.
    package var choicesJSON: JSONText {
        guard !choices.isEmpty else { return .null }
        return .array(
            choices.map { choice in
                type == .string
                    ? .string(choice.name)
                    : .object([("value", choice.value.json), ("name", .string(choice.name))])
            })
    }
}
