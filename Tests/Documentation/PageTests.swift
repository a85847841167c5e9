import Foundation
import TestSupport
import Testing

struct PageTests {
    /// The languages of blocks: Swift is compiled, `sh` and `console` are run, `asm` is assembled, and JSON is compared with
    /// the table on its page. Python is read by mypy, from `Tests/python/check.py`.
    /// The others are not checked.
    private static let languages: Set = [
        "swift", "sh", "console", "asm", "json", "python", "ini", "csharp", "text",
    ]

    @Test(arguments: Page.all)
    func everyBlockSaysItsLanguage(_ page: Page) throws {
        for block in try page.blocks {
            #expect(Self.languages.contains(block.language), "\(page.path):\(block.firstLine)")
            // A typed line has a prompt, by which the test finds and runs it.
            if block.language == "text" {
                #expect(!block.lines.contains { $0.hasPrefix("$ ") }, "\(page.path):\(block.firstLine)")
            }
        }
    }

    /// DocC resolves `<doc:…>` within a module only.
    @Test(arguments: Page.all)
    func linksLeadToPagesOfTheSameModule(_ page: Page) throws {
        let siblings = Page.all.filter {
            URL(filePath: $0.path).deletingLastPathComponent() == URL(filePath: page.path).deletingLastPathComponent()
        }
        for link in try page.text.matches(of: /<doc:([^>#]+)/) {
            #expect(siblings.contains { $0.name == "\(link.1).md" }, "\(page.path): <doc:\(link.1)>")
        }
    }

    @Test
    func linksInCommentsLeadToPagesOfTheSameModule() throws {
        let sources = Repository.path("Sources")
        let files = FileManager.default.enumerator(atPath: sources)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(sources)/\(file)", encoding: .utf8)
            for link in text.matches(of: /<doc:([^>#]+)/) {
                let module = file.split(separator: "/").prefix(2).joined(separator: "/")
                #expect(
                    Page.all.contains { $0.path.hasPrefix("Sources/\(module)/") && $0.name == "\(link.1).md" },
                    "\(file): <doc:\(link.1)>")
            }
        }
    }

    /// The members of the examples are those that the table of events lists.
    @Test
    func theEventsOfTheCommandLineAreAsItsTableSays() throws {
        let page = try #require(Page.all.first { $0.name == "CommandLine.md" })
        var members: [String: Set<String>] = [:]
        for line in try page.text.components(separatedBy: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: true)
            guard cells.count >= 2 else { continue }
            for event in cells[0].matches(of: /`([A-Za-z]+)`/) {
                let row = cells[1...].joined(separator: "|").matches(of: /`([A-Za-z0-9]+)`/).map { String($0.1) }
                members[String(event.1), default: []].formUnion(row)
            }
        }
        let examples = try page.blocks.filter { $0.language == "json" }.flatMap(\.lines)
        #expect(!examples.isEmpty)
        for example in examples {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(example.utf8)) as? [String: Any], "\(example)")
            let event = try #require(object["event"] as? String, "\(example)")
            let listed = try #require(members[event], "the table has no event \(event)")
            for member in object.keys where member != "event" {
                #expect(listed.contains(member), "the table has no member \(member) of \(event)")
            }
        }
    }
}
