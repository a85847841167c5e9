#if !hasFeature(Embedded)
#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

extension ElementValue: CustomStringConvertible {
    /// The value as text that ``init(text:type:)`` reads back: numbers in decimal, vectors as numbers joined by
    /// commas, data as hexadecimal digits, a string as it is.
    public var description: String {
        switch self {
        case .string(let text): text
        case .data(let data): Self.hex(data)
        case .float2(let vector): Self.join([vector.x, vector.y])
        case .float3(let vector): Self.join([vector.x, vector.y, vector.z])
        case .float4(let vector): Self.join([vector.x, vector.y, vector.z, vector.w])
        case .float4x4(let matrix): Self.join(matrix.elements)
        case .bool(let value): value ? "true" : "false"
        case .int8(let value): String(value)
        case .uint8(let value): String(value)
        case .int16(let value): String(value)
        case .uint16(let value): String(value)
        case .int32(let value): String(value)
        case .uint32(let value): String(value)
        case .int64(let value): String(value)
        case .uint64(let value): String(value)
        case .float(let value): String(value)
        case .double(let value): String(value)
        }
    }

    /// Reads a value of `type` from text, as a person types it.
    ///
    /// Integers may be given in decimal or as `0x` and hexadecimal digits; `float` and `double` take these, fractions,
    /// exponents, and the words `nan`, `inf` and `-inf`; `bool` takes true/false, yes/no, on/off and 1/0; vectors take
    /// numbers joined by commas; `data` takes pairs of hexadecimal digits. Blanks around a number or word do not count;
    /// blanks within one are an error. A `string` is taken as it is.
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidText`` and what would have been accepted, also for a
    ///   number that is out of the type's range.
    public init(text: String, type: ElementType) throws(WireError) {
        let value: ElementValue? =
            switch type {
            case .int8: Self.integer(text).map(ElementValue.int8)
            case .uint8: Self.integer(text).map(ElementValue.uint8)
            case .int16: Self.integer(text).map(ElementValue.int16)
            case .uint16: Self.integer(text).map(ElementValue.uint16)
            case .int32: Self.integer(text).map(ElementValue.int32)
            case .uint32: Self.integer(text).map(ElementValue.uint32)
            case .int64: Self.integer(text).map(ElementValue.int64)
            case .uint64: Self.integer(text).map(ElementValue.uint64)
            case .float: Self.number(text[...]).map(ElementValue.float)
            case .double: Self.number(text[...]).map(ElementValue.double)
            case .string: .string(text)
            case .data: Self.bytes(text).map { .data(Data($0)) }
            case .bool: Self.truth(text).map(ElementValue.bool)
            case .float2: Self.floats(text, count: 2).map { .float2(Vector2($0)) }
            case .float3: Self.floats(text, count: 3).map { .float3(Vector3($0)) }
            case .float4: Self.floats(text, count: 4).map { .float4(Vector4($0)) }
            case .float4x4: Self.floats(text, count: 16).map { .float4x4(Matrix4x4($0)) }
            }
        guard let value else {
            throw WireError(.invalidText, "'\(text.excerpt)' is no \(type): give \(Self.expectation(of: type))")
        }
        self = value
    }

    /// Reads a value of the element from text, as a person types it: where the element has choices the name of one, or a
    /// number. A name is matched without regard to upper and lower case where that leaves no doubt.
    ///
    /// A number is taken as it is, also where it is none of the choices.
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidText`` and what would have been accepted.
    public init(text: String, of element: ElementDefinition) throws(WireError) {
        guard let table = element.fields.choices else {
            try self.init(text: text, type: element.type)
            return
        }
        if element.type != .string, let number = try? ElementValue(text: text, type: element.type) {
            self = number
        } else if let choice = table.choice(named: text) {
            self = choice.value
        } else {
            throw WireError(
                .invalidText, "'\(text.excerpt)' is none of its choices; give one of \(element.choicesText)")
        }
    }

    private static func integer<Integer: FixedWidthInteger>(_ text: String) -> Integer? {
        var digits = text[...].withoutBlanks
        let isNegative = digits.dropPrefix("-")
        if !isNegative { _ = digits.dropPrefix("+") }
        let radix = digits.dropPrefix("0x") || digits.dropPrefix("0X") ? 16 : 10
        // A sign counts before the prefix only; the integer's own initializer would take one behind it too.
        guard let first = digits.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else { return nil }
        return Integer((isNegative ? "-" : "") + digits, radix: radix)
    }

    /// A number in floating point, or `nil`.
    ///
    /// The types' own initializers make infinity of a number beyond their range, which would be another value than the
    /// one that was typed.
    private static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ text: Substring) -> Number? {
        let text = text.withoutBlanks
        switch text.utf8.count <= 9 ? text.lowercased() : "" {
        case "nan", "+nan", "-nan": return Number.nan
        case "inf", "+inf", "infinity", "+infinity": return Number.infinity
        case "-inf", "-infinity": return -Number.infinity
        default:
            // The initializers know more words, such as "nan(1)"; no number has an "n".
            let isWord = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "n") }
            guard !isWord, let number = Number(String(text)), number.isFinite else { return nil }
            return number
        }
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        var digits = text[...].withoutBlanks
        _ = digits.dropPrefix("0x") || digits.dropPrefix("0X")
        return digits.hexadecimalBytes
    }

    private static func truth(_ text: String) -> Bool? {
        let word = text[...].withoutBlanks
        guard word.utf8.count <= 5 else { return nil }
        return switch word.lowercased() {
        case "true", "yes", "on", "1": true
        case "false", "no", "off", "0": false
        default: nil
        }
    }

    private static func floats(_ text: String, count: Int) -> [Float]? {
        // No more parts than tell that there are too many.
        let parts = text.split(separator: ",", maxSplits: count, omittingEmptySubsequences: false)
        guard parts.count == count else { return nil }
        var numbers: [Float] = []
        for part in parts {
            guard let number: Float = number(part) else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    private static func hex(_ data: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(data.count * 2)
        for byte in data {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func join(_ floats: [Float]) -> String {
        floats.map { String($0) }.joined(separator: ",")
    }

    private static func expectation(of type: ElementType) -> String {
        switch type {
        case .int8: "a whole number from -128 to 127"
        case .uint8: "a whole number from 0 to 255"
        case .int16: "a whole number from -32768 to 32767"
        case .uint16: "a whole number from 0 to 65535"
        case .int32: "a whole number from \(Int32.min) to \(Int32.max)"
        case .uint32: "a whole number from 0 to \(UInt32.max)"
        case .int64: "a whole number from \(Int64.min) to \(Int64.max)"
        case .uint64: "a whole number from 0 to \(UInt64.max)"
        case .float: "a number such as 0.5 or -1e3, no larger than 3.4028235e+38"
        case .double: "a number such as 0.5 or -1e3, no larger than 1.7976931348623157e+308"
        case .string: "text"
        case .data: "pairs of hexadecimal digits such as 00ff10"
        case .bool: "true or false"
        case .float2: "2 numbers such as 1,2, none larger than 3.4028235e+38"
        case .float3: "3 numbers such as 1,2,3, none larger than 3.4028235e+38"
        case .float4: "4 numbers such as 1,2,3,4, none larger than 3.4028235e+38"
        case .float4x4: "16 numbers joined by commas, column by column, none larger than 3.4028235e+38"
        }
    }
}

extension ElementDefinition {
    /// The value as a person reads it: the name of the choice that it is, or as text that ``ElementValue`` reads back.
    public func text(of value: ElementValue) -> String {
        choice(value)?.name ?? value.description
    }

    /// The choice that the value is, or `nil`.
    public func choice(_ value: ElementValue) -> ElementChoice? { choices.first { $0.value == value } }

    /// The choices for a message, the first of many.
    package var choicesText: String {
        let shown = 20
        let texts = choices.prefix(shown).map { choice in
            type == .string ? "'\(choice.name)'" : "'\(choice.name)' (\(choice.value))"
        }
        let more = choices.count > shown ? " and \(choices.count - shown) more" : ""
        return texts.joined(separator: ", ") + more
    }
}
#endif
