/// Names as levels of OSC addresses: `Desk lamp` becomes `Desk_lamp`.
///
/// A level has printable ASCII alone, without the characters that patterns and OSC keep for themselves, `# * , / ? [ ] { }`,
/// and without those that a URL cannot have. A blank becomes `_`, and `_` becomes `~_`; any other byte of the name's UTF-8
/// that cannot stand for itself becomes `~` and two hexadecimal digits, as does a dot at the beginning. So no two names have
/// the same level, and ``name(of:)`` finds the name again. No level has `~:` in it.
public enum OSCAddressLevel {
    /// The level of a name.
    public static func level(_ name: String) -> String {
        var level: [UInt8] = []
        for (position, byte) in name.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: " "): level.append(UInt8(ascii: "_"))
            case UInt8(ascii: "_"): level += [escape, byte]
            case UInt8(ascii: ".") where position > 0: level.append(byte)
            case _ where isPlain(byte): level.append(byte)
            default: level += "~\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8
            }
        }
        return String(decoding: level, as: UTF8.self)
    }

    /// The name whose level this is; `nil` if there is none.
    public static func name(of level: some StringProtocol) -> String? {
        var name: [UInt8] = []
        var bytes = level.utf8.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "_"): name.append(UInt8(ascii: " "))
            case escape:
                guard let first = bytes.next() else { return nil }
                if first == UInt8(ascii: "_") {
                    name.append(first)
                } else {
                    guard let second = bytes.next(),
                        let byte = UInt8(String(decoding: [first, second], as: UTF8.self), radix: 16)
                    else { return nil }
                    name.append(byte)
                }
            default: name.append(byte)
            }
        }
        guard let name = String(validating: name, as: UTF8.self), self.level(name) == level else { return nil }
        return name
    }

    private static let escape = UInt8(ascii: "~")

    private static func isPlain(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return byte < 0x80 && (character.isLetter || character.isNumber || "!$&'()+-:;=@".contains(character))
    }
}
