/// Reads JSON text piece by piece, without building a tree. It is safe for text from the network: skipping a value does
/// not recurse, limits the depth, and scans every byte once.
package struct JSONReader {
    /// The kind of a value.
    package enum Kind: Sendable {
        case object, array, string, number, bool, null
    }

    /// The maximum depth of a value that ``skip()`` accepts. Foundation's decoder has its own limit (512).
    package static var maximumDepth: Int { 256 }

    private let bytes: UnsafeRawBufferPointer
    /// The number of bytes read so far.
    package private(set) var position = 0

    /// - Parameter bytes: the text. A byte-order mark at its beginning is skipped.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The next byte that is not white space; `nil` at the end.
    private mutating func peek() -> UInt8? {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            case let byte: return byte
            }
        }
        return nil
    }

    /// The kind of the next value; `nil` at the end and for text that is not JSON.
    package mutating func kind() -> Kind? {
        guard let byte = peek() else { return nil }
        return switch byte {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: nil
        }
    }

    /// Consumes this character and the white space before it, if the character comes next.
    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Whether this character comes next, after white space.
    package mutating func isAt(_ character: Unicode.Scalar) -> Bool { peek() == UInt8(ascii: character) }

    /// Whether only white space follows.
    package mutating func isAtEnd() -> Bool { peek() == nil }

    /// Calls `body` with the name of each member of an object; `body` has to read or skip the value.
    ///
    /// - Returns: `false` if the value is not an object, or `body` returned `false`.
    package mutating func object(_ body: (String, inout JSONReader) -> Bool) -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard let name = string(), take(":"), body(name, &self) else { return false }
        } while take(",")
        return take("}")
    }

    /// Calls `body` before each value of an array; `body` has to read or skip the value.
    package mutating func array(_ body: (inout JSONReader) -> Bool) -> Bool {
        guard take("[") else { return false }
        if take("]") { return true }
        repeat {
            guard body(&self) else { return false }
        } while take(",")
        return take("]")
    }

    /// The characters of a number, unchanged.
    package mutating func number() -> String? {
        guard kind() == .number else { return nil }
        let start = position
        skipDigits()
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipDigits() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                position += 1
            default: return
            }
        }
    }

    package mutating func bool() -> Bool? {
        guard kind() == .bool else { return nil }
        if takeWord("true") { return true }
        return takeWord("false") ? false : nil
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        let isThere = (0..<count).allSatisfy { bytes[position + $0] == word.utf8Start[$0] }
        if isThere { position += count }
        return isThere
    }

    /// A string with its escapes resolved. An unpaired surrogate becomes U+FFFD.
    package mutating func string() -> String? {
        peek() == UInt8(ascii: "\"") ? skipString().flatMap(text) : nil
    }

    /// Consumes a string.
    ///
    /// - Returns: the range between the quotation marks, and whether the string contains escapes.
    private mutating func skipString() -> (range: Range<Int>, isEscaped: Bool)? {
        position += 1
        let start = position
        var isEscaped = false
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return (start..<position - 1, isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                position += 2
            case 0..<0x20: return nil
            default: position += 1
            }
        }
        return nil
    }

    private func text(_ range: Range<Int>, isEscaped: Bool) -> String? {
        guard isEscaped else { return String(validating: bytes[range], as: UTF8.self) }
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        var rest = bytes[range]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case let same? where "\"\\/".utf8.contains(same): text.append(same)
            case UInt8(ascii: "u"):
                guard let scalar = Self.scalar(&rest) else { return nil }
                text.append(contentsOf: String(scalar).utf8)
            default: return nil
            }
        }
        return String(validating: text, as: UTF8.self)
    }

    /// The scalar after `\u`.
    private static func scalar(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Unicode.Scalar? {
        guard let first = unit(&rest) else { return nil }
        var behind = rest
        if UTF16.isLeadSurrogate(first), behind.popFirst() == UInt8(ascii: "\\"),
            behind.popFirst() == UInt8(ascii: "u"), let second = unit(&behind), UTF16.isTrailSurrogate(second)
        {
            rest = behind
            return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        }
        return Unicode.Scalar(UInt32(first)) ?? "\u{FFFD}"
    }

    private static func unit(_ rest: inout Slice<UnsafeRawBufferPointer>) -> UInt16? {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        guard digits.count == 4, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-") else {
            return nil
        }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Skips a value of any kind. Numbers are checked only for their characters, and strings only for control
    /// characters.
    ///
    /// - Returns: the value's range; `nil` if it is not JSON or too deep.
    @discardableResult
    package mutating func skip() -> Range<Int>? {
        guard peek() != nil else { return nil }
        let start = position
        // For each level: whether it is an object.
        var levels: [Bool] = []
        repeat {
            switch kind() {
            case .object, .array:
                let isObject = take("{")
                if !isObject { position += 1 }
                if !take(isObject ? "}" : "]") {
                    guard levels.count < Self.maximumDepth else { return nil }
                    levels.append(isObject)
                    if isObject, !skipName() { return nil }
                    continue
                }
            case .string: guard skipString() != nil else { return nil }
            case .number: skipDigits()
            case .bool: guard bool() != nil else { return nil }
            case .null: guard takeWord("null") else { return nil }
            case nil: return nil
            }
            // A value has ended, and perhaps the array or object that contains it.
            while let isObject = levels.last {
                if take(",") {
                    if isObject, !skipName() { return nil }
                    break
                }
                guard take(isObject ? "}" : "]") else { return nil }
                levels.removeLast()
            }
        } while !levels.isEmpty
        return start..<position
    }

    private mutating func skipName() -> Bool { kind() == .string && skipString() != nil && take(":") }
}
