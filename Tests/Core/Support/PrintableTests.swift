import Support
import Testing

/// Escaping of external text for terminals and logs.
struct PrintableTests {
    @Test(arguments: [
        "", "Rover", "Left arm = 0.5 \\ \"quoted\"", "Küche", "部屋", "Привет", "مرحبا", "\u{E9}", "e\u{301}",
        // A family, a rainbow flag, a heart and a keycap: joiners and variation selectors where emoji have them.
        "👩‍👩‍👧‍👦", "🏳️‍🌈", "❤️", "1️⃣", "👍🏽",
        // A Persian word with a non-joiner, a Devanagari conjunct with a joiner.
        "می\u{200C}خواهم", "क\u{94D}\u{200D}ष",
    ])
    func textThatCanBeSeenStaysAsItIs(_ text: String) {
        #expect(text.printable == text)
    }

    @Test(arguments: [
        ("\u{1B}[2J", #"\u{1B}[2J"#), ("a\nb\r\tc", #"a\nb\r\tc"#), ("\u{0}\u{7F}", #"\0\u{7F}"#),
        ("\u{85}\u{9B}31m", #"\u{0085}\u{009B}31m"#), ("a\u{2028}b\u{2029}", #"a\u{2028}b\u{2029}"#),
        ("\u{202E}exe.gpj", #"\u{202E}exe.gpj"#),
        ("\u{2066}\u{2069}\u{61C}\u{200E}\u{200F}", #"\u{2066}\u{2069}\u{061C}\u{200E}\u{200F}"#),
        ("ro\u{200B}ver\u{FEFF}", #"ro\u{200B}ver\u{FEFF}"#), ("ro\u{AD}ver", #"ro\u{00AD}ver"#),
        ("\u{E0061}\u{E007F}", #"\u{000E0061}\u{000E007F}"#), ("\u{3164}\u{115F}", #"\u{3164}\u{115F}"#),
        ("\u{FFFE}\u{1FFFF}", #"\u{FFFE}\u{0001FFFF}"#),
        // Joiners and variation selectors that nobody could see.
        ("ad\u{200C}min", #"ad\u{200C}min"#), ("ad\u{200D}min", #"ad\u{200D}min"#), ("\u{200D}a", #"\u{200D}a"#),
        ("部\u{200D}", #"部\u{200D}"#), ("部\u{200D}\u{200D}屋", #"部\u{200D}\u{200D}屋"#),
        ("a\u{FE0F}", #"a\u{FE0F}"#), ("❤\u{FE0F}\u{FE0F}", #"❤️\u{FE0F}"#),
    ])
    func invisibleAndCursorMovingScalarsAreEscaped(_ text: String, _ expected: String) {
        #expect(
            text.printable.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(text.printable.debugDescription)")
        #expect(text.printable.printable == text.printable)
    }

    @Test
    func noScalarOfTheseClassesPasses() {
        for scalar in [0...0x1FFFF, UInt32(0xE0000)...0xE0FFF].joined().lazy.compactMap(Unicode.Scalar.init) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                #expect(
                    !"a\(scalar)b".printable.unicodeScalars.contains(scalar), "U+\(String(scalar.value, radix: 16))")
            default: break
            }
        }
    }
}
