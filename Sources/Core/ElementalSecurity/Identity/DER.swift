/// The DER tags (X.690) that this framework's certificates use.
enum DERTag {
    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    /// `[0]`, explicit: a certificate's version.
    static let version: UInt8 = 0xA0
    /// `[3]`, explicit: a certificate's extensions.
    static let extensions: UInt8 = 0xA3
}

/// Encodes values as DER.
enum DERWriter {
    /// A value: tag, length and contents.
    static func value(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag] + length(contents.count) + contents }

    /// A value that contains others.
    static func value(_ tag: UInt8, _ parts: [[UInt8]]) -> [UInt8] { value(tag, Array(parts.joined())) }

    /// A string of whole bytes.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { value(DERTag.bitString, [0] + bytes) }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        let bytes = withUnsafeBytes(of: count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}

/// Reads DER strictly: definite lengths in their shortest form, nothing beyond the input's end.
struct DERReader {
    /// A value: its tag, its contents, and both with the length between them.
    struct Value {
        let tag: UInt8
        let contents: ArraySlice<UInt8>
        let encoded: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether everything was read.
    var isAtEnd: Bool { rest.isEmpty }

    /// Reads the next value; `nil` if there is none or it is malformed.
    mutating func next() -> Value? {
        let before = rest
        guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let count = length(), count <= rest.count else {
            return nil
        }
        let contents = rest.prefix(count)
        rest = rest.dropFirst(count)
        return Value(tag: tag, contents: contents, encoded: before[..<rest.startIndex])
    }

    /// Reads the next value if it has this tag.
    mutating func next(_ tag: UInt8) -> Value? {
        var copy = self
        guard let value = copy.next(), value.tag == tag else { return nil }
        self = copy
        return value
    }

    /// Reads a length of at most 65,535.
    private mutating func length() -> Int? {
        guard let first = rest.popFirst() else { return nil }
        switch first {
        case 0..<0x80: return Int(first)
        case 0x81:
            guard let byte = rest.popFirst(), byte >= 0x80 else { return nil }
            return Int(byte)
        case 0x82:
            guard let high = rest.popFirst(), high > 0, let low = rest.popFirst() else { return nil }
            return Int(high) << 8 | Int(low)
        default: return nil
        }
    }
}
