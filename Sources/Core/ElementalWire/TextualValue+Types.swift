#if !hasFeature(Embedded)
#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

extension TextualValue where Self: FixedWidthInteger {
    package init?(typed text: Substring) {
        var digits = text.withoutBlanks
        let isNegative = digits.dropPrefix("-")
        if !isNegative { _ = digits.dropPrefix("+") }
        let radix = digits.dropPrefix("0x") || digits.dropPrefix("0X") ? 16 : 10
        // A sign is allowed only before the prefix; the integer's own initializer would also accept one after it.
        guard let first = digits.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else { return nil }
        self.init((isNegative ? "-" : "") + digits, radix: radix)
    }

    package static var typedForm: String { "a whole number from \(Self.min) to \(Self.max)" }
    package var plainForm: PlainForm { .integer(String(self)) }
}

extension TextualValue where Self: BinaryFloatingPoint & LosslessStringConvertible {
    /// Rejects a number beyond the type's range, which the type's own initializer would read as infinity.
    package init?(typed text: Substring) {
        let text = text.withoutBlanks
        switch text.utf8.count <= 9 ? text.lowercased() : "" {
        case "nan", "+nan", "-nan": self = .nan
        case "inf", "+inf", "infinity", "+infinity": self = .infinity
        case "-inf", "-infinity": self = -.infinity
        default:
            // The initializers accept more words, such as "nan(1)"; no number has an "n".
            let isWord = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "n") }
            guard !isWord, let number = Self(String(text)), number.isFinite else { return nil }
            self = number
        }
    }

    package static var typedForm: String {
        "a number such as 0.5 or -1e3, no larger than \(Self.greatestFiniteMagnitude)"
    }
}

extension Float {
    package var plainForm: PlainForm { .float(self) }

    /// Parses `count` numbers joined by commas.
    fileprivate static func list(typed text: Substring, count: Int) -> [Float]? {
        // One part too many is enough to detect a longer list.
        let parts = text.split(separator: ",", maxSplits: count, omittingEmptySubsequences: false)
        guard parts.count == count else { return nil }
        var numbers: [Float] = []
        for part in parts {
            guard let number = Float(typed: part) else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}

extension Double {
    package var plainForm: PlainForm { .double(self) }
}

extension TextualValue where Self: SIMD, Self.Scalar == Float {
    package init?(typed text: Substring) {
        guard let numbers = Float.list(typed: text, count: Self.scalarCount) else { return nil }
        self.init(numbers)
    }

    package static var typedForm: String {
        let example = (1...Self.scalarCount).map { String($0) }.joined(separator: ",")
        return "\(Self.scalarCount) numbers such as \(example), none larger than \(Float.greatestFiniteMagnitude)"
    }

    package var plainForm: PlainForm { .floats(indices.map { self[$0] }) }
}

extension Matrix4x4 {
    package init?(typed text: Substring) {
        guard let numbers = Float.list(typed: text, count: 16) else { return nil }
        self.init(numbers)
    }

    package static var typedForm: String {
        "16 numbers joined by commas, column by column, none larger than \(Float.greatestFiniteMagnitude)"
    }

    package var plainForm: PlainForm { .floats(elements) }
}

extension Matrix4x4: Codable {
    /// Reads a list of the sixteen elements in the order of the wire.
    public init(from decoder: any Decoder) throws {
        let elements = try [Float](from: decoder)
        guard elements.count == 16 else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath, debugDescription: "a matrix has 16 numbers, not \(elements.count)"))
        }
        self.init(elements)
    }

    /// Writes a list of the sixteen elements in the order of the wire.
    public func encode(to encoder: any Encoder) throws { try elements.encode(to: encoder) }
}

extension Bool {
    package init?(typed text: Substring) {
        let word = text.withoutBlanks
        guard word.utf8.count <= 5 else { return nil }
        switch word.lowercased() {
        case "true", "yes", "on", "1": self = true
        case "false", "no", "off", "0": self = false
        default: return nil
        }
    }

    package static var typedForm: String { "true or false" }
    package var plainForm: PlainForm { .bool(self) }
}

extension String {
    package init?(typed text: Substring) { self = String(text) }
    package static var typedForm: String { "text" }
    package var plainForm: PlainForm { .text(self) }
}

extension Data {
    package init?(typed text: Substring) {
        var digits = text.withoutBlanks
        _ = digits.dropPrefix("0x") || digits.dropPrefix("0X")
        guard let bytes = digits.hexadecimalBytes else { return nil }
        self.init(bytes)
    }

    package static var typedForm: String { "pairs of hexadecimal digits such as 00ff10" }

    package var plainForm: PlainForm {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return .text(String(decoding: text, as: UTF8.self))
    }
}
#endif
