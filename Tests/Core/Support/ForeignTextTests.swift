import Support
import Testing

/// Text as files and programs of other systems have it.
struct ForeignTextTests {
    @Test(arguments: [
        ("", ""), ("a", "a"), ("a\n", "a"), ("a\r\n", "a"), ("a\r", "a"), ("\r\n", ""), ("\u{FEFF}a\r\nb\r\n", "a"),
        ("\u{FEFF}", ""), ("a\u{FEFF}", "a\u{FEFF}"), ("a\rb\n", "a\rb"), ("a\n\n", "a"),
    ])
    func theFirstLine(of text: String, is line: String) {
        #expect(String(decoding: Array(text.utf8).firstLine, as: UTF8.self) == line)
    }

    @Test(arguments: [("a\n\n", "a\n"), ("a\r\r\n", "a\r"), (" a ", " a "), ("\u{FEFF}a\n", "\u{FEFF}a")])
    func oneLineEndIsTakenAway(from text: String, leaving rest: String) {
        #expect(String(decoding: Array(text.utf8).withoutLineEnd, as: UTF8.self) == rest)
    }
}
