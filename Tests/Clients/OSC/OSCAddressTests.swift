import OSC
import Testing

struct OSCAddressTests {
    @Test(arguments: [
        ("Brightness", "Brightness"), ("Desk lamp", "Desk_lamp"), ("screen_control", "screen~_control"),
        ("Ü", "~C3~9C"), ("a/b*?#,[]{}", "a~2Fb~2A~3F~23~2C~5B~5D~7B~7D"), ("..", "~2E."), ("50%~", "50~25~7E"),
        ("127.0.0.1:7000", "127.0.0.1:7000"), ("\u{7}\n", "~07~0A"),
    ])
    func namesBecomeLevelsAndBack(_ name: String, _ level: String) {
        #expect(OSCAddressLevel.level(name) == level)
        #expect(OSCAddressLevel.name(of: level) == name)
    }

    @Test(arguments: ["~", "~4", "~4G", "~41", "a b", "~c3~9C", "~C3", "Ü", ".a", "~:x"])
    func whatIsNoLevelHasNoName(_ level: String) {
        #expect(OSCAddressLevel.name(of: level) == nil)
    }

    @Test
    func noTwoNamesHaveTheSameLevel() {
        let parts = ["", " ", "_", "~", "a", "~_", "~2E", ".", "Ü", "~:", "/"]
        var names: [String: String] = [:]
        for first in parts {
            for second in parts {
                for third in parts {
                    let name = first + second + third
                    let level = OSCAddressLevel.level(name)
                    #expect(names[level] == nil || names[level] == name)
                    names[level] = name
                }
            }
        }
        // Which is left for what is to differ from all of them.
        #expect(!names.keys.contains { $0.contains("~:") })
    }

    @Test(arguments: [
        ("/a", "/a", true), ("/a", "/b", false), ("/?", "/a", true), ("/?", "/", false), ("/?", "/ab", false),
        ("/*", "/", true), ("/*", "/abc", true), ("/a*c", "/abbc", true), ("/a*c", "/ac", true),
        ("/a*c", "/acb", false), ("/*a*b*", "/xaxbx", true), ("/[abc]", "/b", true), ("/[a-c]x", "/bx", true),
        ("/[c-a]", "/b", true), ("/[!a-c]", "/b", false), ("/[!a-c]", "/d", true), ("/[a-]", "/-", true),
        ("/{foo,bar}", "/bar", true), ("/{foo,bar}", "/baz", false), ("/x{,1,12}y", "/xy", true),
        ("/x{,1,12}y", "/x12y", true), ("/x{1,12}{2,}", "/x12", true), ("/**", "/abc", true),
    ])
    func patterns(_ pattern: String, _ address: String, _ matches: Bool) throws {
        let level = try #require(OSCAddressPattern(pattern)).levels[0]
        #expect(level.matches(address.dropFirst()) == matches)
    }

    @Test(arguments: ["a", "", "/[", "/{a", "/a]", "/}", "/[]", "/a/b/c/d", "/[!]"])
    func whatIsNoPattern(_ text: String) {
        #expect(OSCAddressPattern(text) == nil)
    }

    @Test
    func aPatternIsNotLongerThanItMayBe() {
        #expect(OSCAddressPattern("/" + String(repeating: "*a", count: 128)) != nil)
        #expect(OSCAddressPattern("/" + String(repeating: "*a", count: 128) + "b") == nil)
    }

    /// Backtracking would take 2^64 steps here.
    @Test
    func matchingTakesNoTimeThatGrowsWithoutBound() throws {
        let level = try #require(OSCAddressPattern("/" + String(repeating: "*a", count: 128))).levels[0]
        #expect(!level.matches(String(repeating: "a", count: 699) + "b"))
        #expect(level.stepCount < 1024)
    }
}
