/// One of the two character sets. The screen shows one at a time.
public enum CommodoreCharacterSet: Sendable, Hashable, CaseIterable {
    /// Capital letters and graphics, the default after power-on.
    case graphics
    /// Small and capital letters, and fewer graphics.
    case lowerCase

    /// The 128 characters of the set in the order of their screen codes.
    ///
    /// The Unicode characters are those of the Unicode Consortium's mapping for the Commodore 64 (L2/19-025 and its
    /// successors, block "Symbols for Legacy Computing").
    public var characters: [Character] { self == .graphics ? Self.graphicsCharacters : Self.lowerCaseCharacters }

    private static let punctuation = " !\"#$%&'()*+,-./0123456789:;<=>?"
    /// Screen codes $60...$7F.
    private static let rightGraphics =
        "\u{A0}▌▄▔▁▏▒▕\u{1FB8F}◤\u{1FB87}├▗└┐▂┌┴┬┤▎▍\u{1FB88}\u{1FB82}\u{1FB83}▃\u{1FB7F}▖▝┘▘▚"
    /// Screen codes $40...$5F.
    private static let leftGraphics =
        "─♠\u{1FB72}\u{1FB78}\u{1FB77}\u{1FB76}\u{1FB7A}\u{1FB71}\u{1FB74}╮╰╯\u{1FB7C}╲╱\u{1FB7D}"
        + "\u{1FB7E}●\u{1FB7B}♥\u{1FB70}╭╳○♣\u{1FB75}♦┼\u{1FB8C}│π◥"

    private static let graphicsCharacters = Array(
        "@ABCDEFGHIJKLMNOPQRSTUVWXYZ[£]↑←" + punctuation + leftGraphics + rightGraphics)

    private static let lowerCaseCharacters: [Character] = {
        var characters = Array("@abcdefghijklmnopqrstuvwxyz[£]↑←" + punctuation + leftGraphics + rightGraphics)
        characters.replaceSubrange(0x41...0x5A, with: "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        characters[0x5E] = "\u{1FB96}"
        characters[0x5F] = "\u{1FB98}"
        characters[0x69] = "\u{1FB99}"
        characters[0x7A] = "✓"
        return characters
    }()

    /// The screen code of each character of the set.
    var codes: [Character: UInt8] { self == .graphics ? Self.graphicsCodes : Self.lowerCaseCodes }

    private static let graphicsCodes = codes(of: graphicsCharacters)
    private static let lowerCaseCodes = codes(of: lowerCaseCharacters)

    private static func codes(of characters: [Character]) -> [Character: UInt8] {
        Dictionary(zip(characters, 0...127)) { first, _ in first }
    }
}
