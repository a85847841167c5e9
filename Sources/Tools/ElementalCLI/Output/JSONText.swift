import Support

/// A value of JSON that keeps the order of its keys and every digit of its numbers.
///
/// `JSONEncoder` sorts or shuffles keys, and a `Double` in between would round 64-bit integers.
enum JSONText: Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    /// A number, spelled out.
    case number(String)
    case string(String)
    case array([JSONText])
    case object([(key: String, value: JSONText)])

    /// A number; JSON has none that is not finite, so those become the strings `nan`, `inf` and `-inf`.
    init(_ number: some BinaryFloatingPoint & LosslessStringConvertible) {
        self = number.isFinite ? .number(number.description) : .string(number.description)
    }

    /// The value in one line.
    var text: String {
        var text = ""
        append(to: &text)
        return text
    }

    private func append(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let digits): text += digits
        case .string(let string): Self.quote(string, &text)
        case .array(let values):
            text += "["
            for (position, value) in values.enumerated() {
                if position > 0 { text += "," }
                value.append(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (position, member) in members.enumerated() {
                if position > 0 { text += "," }
                Self.quote(member.key, &text)
                text += ":"
                member.value.append(to: &text)
            }
            text += "}"
        }
    }

    private static func quote(_ string: String, _ text: inout String) {
        text += "\""
        string.forEachScalar { scalar, isPrintable in
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where isPrintable: text.unicodeScalars.append(scalar)
            // Besides the controls that JSON forbids, what a terminal or a reader of lines would take for something else.
            default:
                for unit in UTF16.encode(scalar) ?? .init() {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        text += "\""
    }
}
