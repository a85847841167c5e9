import Support
import Testing

struct ComparableNameTests {
    @Test(arguments: [
        ("robot", "ROBOT", true), ("Rover #2", "rOVER #2", true), ("", "", true),
        ("robot", "robots", false), ("robot", "robo", false), ("[", "{", false), ("@", "`", false),
        // Only ASCII letters: capitals of others, and other spellings of one character, are other bytes.
        ("\u{D6}l", "\u{F6}l", false), ("\u{F6}l", "o\u{308}l", false), ("K", "\u{212A}", false),
    ])
    func asDNSDoes(_ one: String, _ other: String, _ areSame: Bool) {
        #expect(one.isSameName(as: other) == areSame)
        #expect((ComparableName(one) == ComparableName(other)) == areSame)
    }
}
