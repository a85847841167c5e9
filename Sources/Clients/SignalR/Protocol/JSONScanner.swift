/// Locates the values in JSON without decoding them. It is safe for text from the network: it does not recurse, and
/// looks at every byte at most once.
struct JSONScanner {
    /// Invalid JSON.
    struct Failure: Error {}

    /// The deepest nesting accepted. Foundation's decoder, which reads the values later, has its own limit (512).
    static var maximumDepth: Int { 256 }

    private let bytes: UnsafeRawBufferPointer
    /// The position of the next byte.
    private(set) var index: Int

    init(_ bytes: UnsafeRawBufferPointer, at index: Int = 0) {
        self.bytes = bytes
        self.index = index
    }

    /// Advances to the next byte that is not white space; `nil` at the end.
    mutating func peek() -> UInt8? {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case let byte: return byte
            }
        }
        return nil
    }

    /// Consumes this byte, and white space before it, if it is the next.
    mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        index += 1
        return true
    }

    /// Consumes this byte.
    mutating func expect(_ byte: UInt8) throws(Failure) {
        guard take(byte) else { throw Failure() }
    }

    /// Consumes a string and returns what is between its quotation marks.
    mutating func string() throws(Failure) -> Range<Int> {
        try expect(UInt8(ascii: "\""))
        let start = index
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return start..<index - 1
            case UInt8(ascii: "\\"):
                index += 2
            case 0..<0x20:
                throw Failure()
            default:
                index += 1
            }
        }
        throw Failure()
    }

    /// Consumes a value of any kind.
    mutating func value() throws(Failure) -> Range<Int> {
        guard peek() != nil else { throw Failure() }
        let start = index
        // One bit per level: whether it is an object.
        var levels: [Bool] = []
        repeat {
            guard let byte = peek() else { throw Failure() }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                index += 1
                let isObject = byte == UInt8(ascii: "{")
                if !take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    guard levels.count < Self.maximumDepth else { throw Failure() }
                    levels.append(isObject)
                    if isObject { try key() }
                    continue
                }
            case UInt8(ascii: "\""):
                _ = try string()
            default:
                try word()
            }
            // A value has ended, and perhaps the array or object around it.
            while let isObject = levels.last {
                if take(UInt8(ascii: ",")) {
                    if isObject { try key() }
                    break
                }
                try expect(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                levels.removeLast()
            }
        } while !levels.isEmpty
        return start..<index
    }

    private mutating func key() throws(Failure) {
        _ = try string()
        try expect(UInt8(ascii: ":"))
    }

    /// Consumes a number, `true`, `false` or `null`, judging by its letters only; the value's decoder checks it
    /// properly.
    private mutating func word() throws(Failure) {
        let start = index
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
                UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
                index += 1
                continue
            default: break
            }
            break
        }
        guard index > start else { throw Failure() }
    }
}
