/// A Swift type that stands for one of the wire's value types, with all properties of that type except its name and
/// code.
///
/// To add a value type: a case and a row in ``ElementType``, a case and a line in ``ElementValue``, and this
/// conformance.
package protocol ValueType: ElementRepresentable, TextualValue {
    /// The number of bytes that every value takes, or `nil` where the length varies.
    static var byteCount: Int? { get }
    /// Whether the type allows a range and a step.
    static var isNumeric: Bool { get }
    /// Whether the type allows a range for each component.
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
/// How a value is parsed from user input, shown, and written in formats like JSON.
package protocol TextualValue: Codable {
    /// Parses user input; `nil` if the text is not a value of the type.
    init?(typed text: Substring)
    /// The expected input, for the error message about other input.
    static var typedForm: String { get }
    /// The value as formats like JSON write it.
    var plainForm: PlainForm { get }
}

/// A value as formats like JSON write it.
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
