import PETSCII

/// The chat program's characters.
///
/// It shows ASCII on a screen with small and capital letters: 40 becomes screen code 00, and 60 is subtracted from 60 and
/// above. 5B to 5F would become graphics. Typed text is kept as screen codes.
enum ChatText {
    /// The ASCII bytes of a text, without line ends.
    static func bytes(_ text: String) -> [UInt8] {
        [UInt8](ascii: text).map { byte in
            switch byte {
            case 0x0D: 0x20
            case UInt8(ascii: "["), UInt8(ascii: "{"): 0x7B
            case UInt8(ascii: "]"), UInt8(ascii: "}"): 0x7D
            case UInt8(ascii: "^"): 0x7E
            case UInt8(ascii: "~"), UInt8(ascii: "_"): UInt8(ascii: "-")
            case UInt8(ascii: "\\"): UInt8(ascii: "/")
            case UInt8(ascii: "|"): UInt8(ascii: "!")
            case UInt8(ascii: "`"): UInt8(ascii: "'")
            default: byte
            }
        }
    }

    /// Decodes bytes from the program: ASCII, and screen codes that do not collide with ASCII. Others are replaced.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(
            bytes.map { byte -> Character in
                switch byte {
                case 0x20..<0x7F: Character(Unicode.Scalar(byte))
                case 0x00..<0x20: ScreenCode(rawValue: byte).character(in: .lowerCase)
                default: "\u{FFFD}"
                }
            })
    }

    /// Splits the text into pieces, at blanks if possible.
    static func pieces(of text: [UInt8], atMost count: Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = text[...]
        while rest.count > count {
            let blank = UInt8(ascii: " ")
            // A blank right after the piece is a split point too.
            if let last = rest.prefix(count + 1).lastIndex(of: blank), last > rest.startIndex {
                pieces.append(Array(rest[..<last]))
                rest = rest[(last + 1)...]
            } else {
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
        }
        return pieces + [Array(rest)]
    }
}
