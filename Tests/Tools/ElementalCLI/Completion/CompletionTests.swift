import Foundation
import TestSupport
import Testing

@testable import ElementalCLI

/// Completion in real shells: `Tests/completion/check.py`.
struct CompletionTests {
    private static let areOthersThere = ["zsh", "fish"].allSatisfy(ProcessSpawn.isOnPath)

    @Test(.backstop)
    func namesAreCompletedInBashAndNotRun() async throws {
        try await ScenarioScript.completion.check(["bash"])
    }

    @Test(.enabled(if: areOthersThere, "zsh or fish is missing"), .backstop, arguments: ["zsh", "fish"])
    func namesAreCompletedAndNotRun(in shell: String) async throws {
        try await ScenarioScript.completion.check([shell])
    }

    @Test(arguments: [
        ("elemental get la", ["get"], "la"), ("elemental  get 'a b' \"c $x\" d\\ e", ["get", "a b", "c $x"], "d e"),
        ("elemental get 'a b", ["get"], "a b"), ("elemental get 'it'\\''s' ", ["get", "it's"], ""),
        ("elem", [], "elem"),
        (#"elemental "a\"b\c" '\'x"#, [#"a"b\c"#], #"\x"#),
    ])
    func quotesAreTakenAway(_ typed: String, _ words: [String], _ word: String) {
        let line = TypedLine(typed, .bash)
        #expect(line.words == words && line.word == word)
    }

    @Test
    func fishHasEscapesWithinSingleQuotes() {
        #expect(TypedLine(#"elemental 'it\'s' '\x"#, .fish).words == ["it's"])
        #expect(TypedLine(#"elemental '\x"#, .fish).word == #"\x"#)
    }

    @Test(arguments: [
        ("la", "la", "lamp", "lamp"), ("la", "la", "lamp/$(x)", "'lamp/$(x)'"),
        ("'la", "la", "lamp/it's", #"'lamp/it'\''s'"#),
        ("\"la", "la", "lamp/$`\"\\!", #""lamp/\$\`\"\\"'!'"""#), ("lamp/\"D", "D", "lamp/Desk", "\"Desk\""),
        ("Mode=o", "o", "Mode=on low", "'on low'"), ("lamp/a:", "", "lamp/a:b", "b"),
    ])
    func bashReplacesTheEndOfAWord(_ typed: String, _ replaced: String, _ candidate: String, _ inserted: String) {
        #expect(TypedLine("elemental get \(typed)", .bash).replacement(candidate, of: replaced) == inserted)
    }
}

/// What completion knows of services.
struct CompletionCacheTests {
    private static func entry(
        _ target: String, _ element: String = "Level", key: String? = nil, time: Int = 100, values: [String] = []
    ) -> CompletionCache.Entry {
        CompletionCache.Entry(
            target: target, fingerprint: key, time: time,
            elements: [.init(name: element, isReadable: true, isWritable: true, values: values)])
    }

    @Test
    func whatHasNotChangedIsNotWritten() {
        var cache = CompletionCache()
        let entries = [
            Self.entry("lamp/Desk"), Self.entry("lamp/Desk", time: 3699), Self.entry("lamp/Desk", time: 3700),
            Self.entry("LAMP/Desk", "Other", time: 3701),
        ]
        #expect(entries.map { cache.note($0) } == [true, false, true, true])
        #expect(cache.entries.count == 1)
        #expect(CompletionCache(parsing: cache.bytes, now: 3701) == cache)
    }

    @Test
    func anotherServiceOfTheSameNameDoesNotTakeThePlaceOfAProvenOne() {
        var cache = CompletionCache()
        _ = cache.note(Self.entry("lamp/Desk", "Proven", key: "a", time: 100))
        _ = cache.note(Self.entry("lamp/Desk", "Other", time: 200))
        #expect(cache.elements(of: "lamp/desk").map(\.name) == ["Proven"])
        #expect(cache.elements(of: "lamp").map(\.name) == ["Proven"])
        #expect(cache.elements(of: "robot").isEmpty)
    }

    @Test
    func itLastsADayAndIsBounded() {
        var cache = CompletionCache()
        _ = cache.note(Self.entry("lamp/Desk", time: 100))
        #expect(CompletionCache(parsing: cache.bytes, now: 100 + 86399).entries.count == 1)
        #expect(CompletionCache(parsing: cache.bytes, now: 100 + 86400).entries.isEmpty)
        #expect(CompletionCache(parsing: cache.bytes, now: 99).entries.isEmpty)
        let isLargeKept = cache.note(Self.entry("lamp/Large", String(repeating: "x", count: 64 * 1024)))
        #expect(!isLargeKept)
        for number in 0..<40 {
            _ = cache.note(Self.entry("lamp/\(number)", String(repeating: "x", count: 50_000), time: 200 + number))
        }
        #expect(cache.bytes.count <= CompletionCache.maximumByteCount && cache.entries.count == 20)
        #expect(
            cache.entries.contains { $0.target == "lamp/39" } && !cache.entries.contains { $0.target == "lamp/Desk" })
    }

    @Test(arguments: [
        "", "{", "[]", #"{"entries":[{"target":1}]}"#, String(repeating: "[", count: 10_000),
        #"{"entries":[{"target":"lamp/x","time":-9223372036854775808,"elements":[]}]}"#,
    ])
    func aFileThatIsNotValidHasNothing(_ text: String) {
        #expect(CompletionCache(parsing: Array(text.utf8), now: 100).entries.isEmpty)
    }

    @Test
    func commandsWriteItAndAForeignOneIsIgnored() async throws {
        try await Serving.with { serving in
            try await serving.robot { _, target in
                let file = serving.state + "/" + CompletionCache.file
                func complete() async throws -> [String] {
                    let line = "elemental get --state \(serving.state) \(target) S"
                    return try await expectSuccess("---complete", "zsh", line)
                }
                #expect(try await complete() == ["words"])
                expectSuccess(try await serving.run("get", target, "Speed"))
                #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
                #expect(try await complete() == ["words", "Speed"])
                let inode = try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int
                expectSuccess(try await serving.run("get", target, "Speed"))
                #expect(try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int == inode)
                try FileManager.default.moveItem(atPath: file, toPath: file + ".other")
                try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file + ".other")
                #expect(try await complete() == ["words"])
                // The next command puts its own file in the place of the link.
                expectSuccess(try await serving.run("get", target, "Speed"))
                #expect(
                    try FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType == .typeRegular)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
                #expect(try await complete() == ["words"])
            }
        }
    }
}
