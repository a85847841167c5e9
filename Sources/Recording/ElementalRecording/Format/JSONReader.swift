/// Reads JSON text piece by piece, without making a tree of it. Whatever the text is, its depth is bounded.
struct JSONReader {
    /// The next thing in the text.
    enum Kind {
        case object, array, string, number, bool, null
    }

    private static let deepest = 32

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    /// - Parameter bytes: the text. A byte-order mark before it is none of it.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    private mutating func skipBlanks() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    /// What follows; `nil` at the end, and for something that is not JSON.
    mutating func kind() -> Kind? {
        skipBlanks()
        guard position < bytes.count else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: return nil
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Whether only blanks follow.
    mutating func isAtEnd() -> Bool {
        skipBlanks()
        return position == bytes.count
    }

    /// Calls `body` with the name of each member of an object; it has to read or skip the value.
    ///
    /// - Returns: `false` if this is no object, or `body` returned `false`.
    mutating func object(_ body: (String, inout JSONReader) -> Bool) -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard let name = string(), take(":"), body(name, &self) else { return false }
        } while take(",")
        return take("}")
    }

    /// Calls `body` before each value of an array; it has to read or skip the value.
    mutating func array(_ body: (inout JSONReader) -> Bool) -> Bool {
        guard take("[") else { return false }
        if take("]") { return true }
        repeat {
            guard body(&self) else { return false }
        } while take(",")
        return take("]")
    }

    /// The digits of a number, as they are.
    mutating func number() -> String? {
        guard kind() == .number else { return nil }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                position += 1
            default: return String(decoding: bytes[start..<position], as: UTF8.self)
            }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    mutating func bool() -> Bool? {
        skipBlanks()
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

    /// A string with its escapes resolved.
    mutating func string() -> String? {
        guard take("\"") else { return nil }
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\") {
            position += 1
        }
        guard position < bytes.count else { return nil }
        guard let plain = String(validating: bytes[start..<position], as: UTF8.self) else { return nil }
        if bytes[position] == UInt8(ascii: "\"") {
            position += 1
            return plain
        }
        return rest(of: plain)
    }

    /// The rest of a string that has escapes.
    private mutating func rest(of beginning: String) -> String? {
        var text = Array(beginning.utf8)
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return String(validating: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard position < bytes.count else { return nil }
            let escape = bytes[position]
            position += 1
            switch escape {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
            case UInt8(ascii: "u"):
                guard let scalar = escapedScalar() else { return nil }
                text.append(contentsOf: String(Character(scalar)).utf8)
            default: return nil
            }
        }
        return nil
    }

    /// The scalar behind `\u`; half of a pair without the other half becomes U+FFFD.
    private mutating func escapedScalar() -> Unicode.Scalar? {
        guard let first = unit() else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(UInt32(first)) ?? "\u{FFFD}" }
        let start = position
        if takeWord("\\u"), let second = unit(), UTF16.isTrailSurrogate(second) {
            let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            return Unicode.Scalar(value)
        }
        position = start
        return "\u{FFFD}"
    }

    private mutating func unit() -> UInt16? {
        guard bytes.count - position >= 4 else { return nil }
        let digits = bytes[position..<(position + 4)]
        position += 4
        guard !digits.contains(UInt8(ascii: "+")), !digits.contains(UInt8(ascii: "-")) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Skips a value of any kind.
    mutating func skip(depth: Int = 0) -> Bool {
        guard depth < Self.deepest else { return false }
        switch kind() {
        case .object: return object { _, reader in reader.skip(depth: depth + 1) }
        case .array: return array { reader in reader.skip(depth: depth + 1) }
        case .string: return string() != nil
        case .number: return number() != nil
        case .bool: return bool() != nil
        case .null: return takeWord("null")
        case nil: return false
        }
    }
}
