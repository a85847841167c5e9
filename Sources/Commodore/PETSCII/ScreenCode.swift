/// A byte of the screen memory: one of 128 characters, normal or reversed.
public struct ScreenCode: RawRepresentable, Sendable, Hashable {
    /// The byte; bit 7 means reversed.
    public let rawValue: UInt8

    /// The code of that byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The code that the KERNAL puts on the screen for a PETSCII byte. A control code becomes the reversed letter
    /// that represents it between quotes.
    public init(petscii byte: UInt8) {
        switch byte {
        case 0x00...0x1F: rawValue = byte | 0x80
        case 0x20...0x3F: rawValue = byte
        case 0x40...0x5F: rawValue = byte - 0x40
        case 0x60...0x7F: rawValue = byte - 0x20
        case 0x80...0x9F: rawValue = byte + 0x40
        case 0xA0...0xBF: rawValue = byte - 0x40
        case 0xFF: rawValue = 0x5E
        default: rawValue = byte - 0x80
        }
    }

    /// The PETSCII byte that shows this character when printed; whether it is reversed is lost.
    public var petscii: UInt8 {
        let code = rawValue & 0x7F
        return switch code {
        case 0x00...0x1F: code + 0x40
        case 0x20...0x3F: code
        case 0x5E: 0xFF
        case 0x40...0x5F: code + 0x80
        default: code + 0x40
        }
    }

    /// Whether the colours of character and background are swapped.
    public var isReversed: Bool { rawValue & 0x80 != 0 }

    /// The character as Unicode. A reversed one is the same character.
    public func character(in set: CommodoreCharacterSet) -> Character { set.characters[Int(rawValue & 0x7F)] }

    /// The code of a Unicode character, or nil if the set does not have it.
    public init?(_ character: Character, in set: CommodoreCharacterSet) {
        guard let code = set.codes[character] else { return nil }
        rawValue = code
    }
}
