/// A JSON value that keeps the order of its keys and every digit of its numbers.
///
/// `JSONEncoder` sorts or shuffles keys, and would round 64-bit integers where they pass through a `Double`.
package enum JSONText: Sendable {
    /// The members of an object, in the order in which they are written.
    package typealias Members = [(key: String, value: JSONText)]

    case null
    case bool(Bool)
    case integer(Int)
    /// A number as it is written.
    case number(String)
    case string(String)
    case array([JSONText])
    case object(Members)
    /// An object whose first member is `"event"`, with the event's name.
    case event(String, Members)

    /// A number. JSON has no NaN and no infinity, so these become the strings `nan`, `inf` and `-inf`.
    package init(_ number: some BinaryFloatingPoint & LosslessStringConvertible) {
        self = number.isFinite ? .number(number.description) : .string(number.description)
    }

    /// A duration in seconds.
    package static func seconds(_ duration: Duration) -> JSONText { JSONText(Double(duration.nanoseconds) / 1e9) }

    /// A string, or null.
    package static func optional(_ string: String?) -> JSONText { string.map { .string($0) } ?? .null }

    /// An integer, or null.
    package static func optional(_ number: Int?) -> JSONText { number.map { .integer($0) } ?? .null }

    /// The value on one line.
    package var text: String {
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
            Self.append(members, isFirst: true, to: &text)
            text += "}"
        case .event(let name, let members):
            text += "{\"event\":"
            Self.quote(name, &text)
            Self.append(members, isFirst: false, to: &text)
            text += "}"
        }
    }

    private static func append(_ members: Members, isFirst: Bool, to text: inout String) {
        var isFirst = isFirst
        for member in members {
            if !isFirst { text += "," }
            isFirst = false
            quote(member.key, &text)
            text += ":"
            member.value.append(to: &text)
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
            // JSON forbids only control characters. Other invisible characters are escaped because a terminal, or a
            // program that reads lines, could misinterpret them.
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
