/// Converts names to levels of OSC addresses: `Desk lamp` becomes `Desk_lamp`.
///
/// A level contains only printable ASCII, without the characters that OSC and its patterns reserve, `# * , / ? [ ] {
/// }`, and without those that are not allowed in a URL. A space becomes `_`, and `_` becomes `~_`. Each other UTF-8
/// byte that is not allowed, and a dot at the beginning, becomes `~` and two hexadecimal digits. Different names have
/// different levels, and ``name(of:)`` reverses the conversion. No level contains `~:`.
public enum OSCAddressLevel {
    /// Returns the level for a name.
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

    /// Returns the name for a level; `nil` if no name has this level.
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
