/// Replacements for characters that the Commodore does not have.
///
/// A character that is in neither table is shown as ``replacement``, so that the reader sees that one is missing.
enum Folding {
    /// Stands for characters without a replacement; the same in ASCII and in PETSCII.
    static let replacement = UInt8(ascii: "?")

    /// An ASCII replacement for the character, or the character itself.
    static func fold(_ character: Character) -> String {
        if let text = signs[character] { return text }
        if let letter = letters[character] { return letter }
        return String(character)
    }

    /// Punctuation and symbols.
    private static let signs: [Character: String] = [
        "‘": "'", "’": "'", "‚": "'", "´": "'", "`": "'", "“": "\"", "”": "\"", "„": "\"", "«": "\"", "»": "\"",
        "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-", "…": "...", "•": "*", "·": ".", "×": "x", "÷": "/",
        "\u{A0}": " ", "\u{2009}": " ", "\u{202F}": " ", "\t": " ", "€": "EUR", "©": "(c)", "®": "(r)", "™": "(tm)",
        "°": "o", "{": "(", "}": ")", "~": "-", "\\": "/", "|": "│", "_": "▁", "^": "↑",
        "✔": "✓", "¡": "!", "¿": "?", "²": "2", "³": "3", "½": "1/2", "¼": "1/4", "→": ">",
    ]

    /// Accented letters of Latin-1 and Latin Extended-A.
    private static let letters: [Character: String] = {
        let groups: [(String, String)] = [
            ("àáâãåāăą", "a"), ("ÀÁÂÃÅĀĂĄ", "A"), ("çćĉċč", "c"), ("ÇĆĈĊČ", "C"), ("ďđð", "d"), ("ĎĐÐ", "D"),
            ("èéêëēĕėęě", "e"), ("ÈÉÊËĒĔĖĘĚ", "E"), ("ĝğġģ", "g"), ("ĜĞĠĢ", "G"), ("ĥħ", "h"), ("ĤĦ", "H"),
            ("ìíîïĩīĭįı", "i"), ("ÌÍÎÏĨĪĬĮİ", "I"), ("ĵ", "j"), ("Ĵ", "J"), ("ķ", "k"), ("Ķ", "K"),
            ("ĺļľŀł", "l"), ("ĹĻĽĿŁ", "L"), ("ñńņň", "n"), ("ÑŃŅŇ", "N"), ("òóôõøōŏő", "o"), ("ÒÓÔÕØŌŎŐ", "O"),
            ("ŕŗř", "r"), ("ŔŖŘ", "R"), ("śŝşš", "s"), ("ŚŜŞŠ", "S"), ("ţťŧ", "t"), ("ŢŤŦ", "T"),
            ("ùúûũūŭůűų", "u"), ("ÙÚÛŨŪŬŮŰŲ", "U"), ("ŵ", "w"), ("Ŵ", "W"), ("ýÿŷ", "y"), ("ÝŸŶ", "Y"),
            ("źżž", "z"), ("ŹŻŽ", "Z"), ("æ", "ae"), ("Æ", "AE"), ("œ", "oe"), ("Œ", "OE"), ("ß", "ss"), ("þ", "th"),
            ("Þ", "TH"), ("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue"),
        ]
        var letters: [Character: String] = [:]
        for (marked, plain) in groups {
            for character in marked { letters[character] = plain }
        }
        return letters
    }()
}
