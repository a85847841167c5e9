extension String {
    /// The text of PETSCII bytes as the screen would show them.
    ///
    /// RETURN becomes a line feed. Other control codes have no character and are left out, or, on request, shown by
    /// their name in braces, such as `{clear}` or `{light blue}`; an unknown one as `{$02}`.
    public init(petscii bytes: some Sequence<UInt8>, in set: CommodoreCharacterSet, showingControls: Bool = false) {
        self.init()
        for byte in bytes {
            let control = ControlCode(rawValue: byte)
            if control == .return || control == .shiftReturn {
                append("\n")
            } else if byte & 0x7F >= 0x20 {
                append(ScreenCode(petscii: byte).character(in: set))
            } else if showingControls {
                append("{" + (control?.name ?? "$" + (byte < 16 ? "0" : "") + String(byte, radix: 16)) + "}")
            }
        }
    }

    /// The text of bytes from the screen memory.
    public init(screenCodes bytes: some Sequence<UInt8>, in set: CommodoreCharacterSet) {
        self.init(bytes.map { ScreenCode(rawValue: $0).character(in: set) })
    }
}

extension Array where Element == UInt8 {
    /// The PETSCII bytes of a text.
    ///
    /// Line ends become RETURN. In the graphics set, which has capitals only, small letters become capitals.
    /// Missing characters are replaced by similar ones, such as `é` by `e` and `…` by three full stops, or else by a
    /// question mark.
    public init(petscii text: String, in set: CommodoreCharacterSet) {
        self.init()
        for character in text {
            if character.isNewline {
                append(ControlCode.return.rawValue)
            } else if let code = ScreenCode(showing: character, in: set) {
                append(code.petscii)
            } else {
                for part in Folding.fold(character) {
                    append(ScreenCode(showing: part, in: set)?.petscii ?? Folding.replacement)
                }
            }
        }
    }

    /// ASCII bytes for a text, for programs that expect those from the line.
    ///
    /// Non-ASCII characters are replaced as in ``init(petscii:in:)``. Line ends become 13.
    public init(ascii text: String) {
        self.init()
        for character in text {
            if character.isNewline {
                append(0x0D)
            } else if let byte = character.printableASCII {
                append(byte)
            } else {
                for part in Folding.fold(character) { append(part.printableASCII ?? Folding.replacement) }
            }
        }
    }
}

extension Character {
    /// The character's byte if it is printable ASCII.
    fileprivate var printableASCII: UInt8? { asciiValue.flatMap { 0x20..<0x7F ~= $0 ? $0 : nil } }
}

extension ScreenCode {
    /// The code of a character, with small letters as capitals in sets without small letters.
    fileprivate init?(showing character: Character, in set: CommodoreCharacterSet) {
        if let code = ScreenCode(character, in: set) {
            self = code
        } else if set == .graphics, character.isASCII, let capital = character.uppercased().first,
            let code = ScreenCode(capital, in: set)
        {
            self = code
        } else {
            return nil
        }
    }
}

extension ControlCode {
    /// The code's name in words, such as `reverse on`.
    public var name: String {
        if let colour { return colour.name }
        var words = ""
        for character in "\(self)" {
            if character.isUppercase { words.append(" ") }
            words.append(character.lowercased())
        }
        return words
    }
}
