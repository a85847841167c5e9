import Foundation
import TestSupport
import Testing

/// The Swift on the pages compiles.
///
/// A block that begins with a file's name as a comment, such as `// Lamp.swift`, is that file in the programs that follow
/// on the page. One that begins with a sample's path, such as `// Samples/Lamp/Lamp.swift`, is that file as it is, which the
/// samples' own build compiles. A block with an import is a whole program and is compiled unchanged. Any other block is a
/// fragment: it is compiled as the body of a function, after the page's prelude.
struct SwiftBlockTests {
    @Test(
        .backstop,
        arguments: Page.all.filter { page in (try? page.blocks.contains { $0.language == "swift" }) ?? false })
    func swiftCompiles(_ page: Page) async throws {
        let compiler = try SwiftCompiler()
        var files: [String: String] = [:]
        // Of the newest files, those that no program has been compiled with.
        var alone: Page.Block?
        var fragments: [Page.Block] = []
        for block in try page.blocks where block.language == "swift" {
            if let sample = block.sample {
                let file = try String(contentsOfFile: Repository.path(sample), encoding: .utf8)
                #expect(
                    block.lines.dropFirst().joined(separator: "\n") + "\n" == file, "\(page.path):\(block.firstLine)")
            } else if let file = block.file {
                files[file] = block.text
                alone = block
            } else if block.isProgram {
                let complaint = try await compiler.compile(block.text, with: files)
                #expect(complaint.isEmpty, "\(page.path):\(block.firstLine)\n\(complaint)")
                alone = nil
            } else {
                fragments.append(block)
            }
        }
        if !fragments.isEmpty || alone != nil {
            let complaint = try await compiler.compile(try Self.program(of: fragments, on: page), with: files)
            #expect(complaint.isEmpty, "\(complaint)")
        }
    }

    /// The fragments of a page as functions of one program; a complaint names the page and its line.
    private static func program(of fragments: [Page.Block], on page: Page) throws -> String {
        guard let first = fragments.first else { return "" }
        let prelude = try #require(
            Prelude.ofPages[page.name], "\(page.path):\(first.firstLine) imports nothing, and has no prelude")
        return fragments.reduce(prelude + "\n") { program, block in
            // A body that is elided on the page is empty here.
            let body = block.text.replacingOccurrences(of: "{ … }", with: "{}")
            return program + """
                func block\(block.firstLine)() async throws {
                #sourceLocation(file: "\(page.path)", line: \(block.firstLine))
                \(body)
                #sourceLocation()
                }

                """
        }
    }

    @Test
    func everyPreludeIsUsed() throws {
        for name in Prelude.ofPages.keys {
            let page = try #require(Page.all.first { $0.name == name }, "there is no \(name)")
            let hasFragments = try page.blocks.contains {
                $0.language == "swift" && $0.file == nil && $0.sample == nil && !$0.isProgram
            }
            #expect(hasFragments, "\(name) has whole programs only")
        }
    }
}

extension Page.Block {
    /// The name of the file that a block of Swift is, if it begins with it.
    var file: String? { lines.first?.firstMatch(of: /^\/\/ ([A-Za-z]+\.swift)/).map { String($0.1) } }

    /// The path of the sample's file that a block of Swift is, if it begins with it.
    var sample: String? { lines.first?.firstMatch(of: /^\/\/ (Samples\/[A-Za-z0-9\/]+\.swift)$/).map { String($0.1) } }

    var isProgram: Bool { lines.contains { $0.hasPrefix("import ") } }
}
