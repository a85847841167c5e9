/// A Swift type that stands for one of the wire's value types, and all that is told of that type besides its name and
/// code.
///
/// To add a value type: a case and a row in ``ElementType``, a case and a line in ``ElementValue``, and this
/// conformance.
package protocol ValueType: ElementRepresentable, TextualValue {
    /// The number of bytes that every value takes, or `nil` where the length varies.
    static var byteCount: Int? { get }
    /// Whether a range and a step mean something.
    static var isNumeric: Bool { get }
    /// Whether a range means something for each component.
    static var isVector: Bool { get }
    /// Whether the values are whole numbers.
    static var isInteger: Bool { get }
}

extension ValueType {
    package static var byteCount: Int? { MemoryLayout<Self>.size }
    package static var isNumeric: Bool { false }
    package static var isVector: Bool { false }
    package static var isInteger: Bool { false }
}

extension ValueType where Self: SIMD {
    package static var isVector: Bool { true }
}

extension ValueType where Self: FixedWidthInteger {
    package static var isNumeric: Bool { true }
    package static var isInteger: Bool { true }
}

#if hasFeature(Embedded)
package protocol TextualValue {}
#else
/// How a value is typed, shown, and told to programs that know numbers, texts and lists.
package protocol TextualValue: Codable {
    /// The value that a person types so; `nil` if the text is anything else.
    init?(typed text: Substring)
    /// What is to be typed, for the message that something else was.
    static var typedForm: String { get }
    /// The value as formats like JSON have it.
    var plainForm: PlainForm { get }
}

/// A value as formats like JSON have it.
package enum PlainForm: Sendable, CustomStringConvertible {
    /// A whole number in decimal.
    case integer(String)
    case float(Float)
    case double(Double)
    case bool(Bool)
    case text(String)
    case floats([Float])

    /// The text that ``TextualValue/init(typed:)`` reads back.
    package var description: String {
        switch self {
        case .integer(let digits): digits
        case .float(let number): String(number)
        case .double(let number): String(number)
        case .bool(let value): value ? "true" : "false"
        case .text(let text): text
        case .floats(let numbers): numbers.lazy.map { String($0) }.joined(separator: ",")
        }
    }
}
#endif
