import Foundation
import TestSupport
import Testing

/// A page of the documentation, as it stands in the package.
struct Page: Sendable, CustomTestStringConvertible {
    /// The README and the pages of every catalogue.
    static let all: [Page] = {
        let files =
            FileManager.default.enumerator(atPath: Repository.path("Sources"))?.compactMap { $0 as? String } ?? []
        return [Page(path: "README.md")]
            + files.filter { $0.hasSuffix(".md") }.sorted().map { Page(path: "Sources/\($0)") }
    }()

    /// Relative to the package.
    let path: String

    var name: String { URL(filePath: path).lastPathComponent }
    var testDescription: String { name }

    var text: String {
        get throws { try String(contentsOfFile: Repository.path(path), encoding: .utf8) }
    }

    struct Block: Sendable, CustomTestStringConvertible {
        let page: Page
        /// What follows the opening fence; empty where nothing does.
        let language: String
        /// The number of the line after the opening fence, from 1.
        let firstLine: Int
        let lines: [String]

        var text: String { lines.joined(separator: "\n") }
        var testDescription: String { "\(page.name):\(firstLine)" }
    }

    /// The page's fenced blocks. What a list indents its block by is taken off.
    var blocks: [Block] {
        get throws {
            var blocks: [Block] = []
            var open: (language: String, indentation: Int, firstLine: Int, lines: [String])?
            for (index, line) in try text.components(separatedBy: "\n").enumerated() {
                let indentation = line.prefix { $0 == " " }.count
                if line.dropFirst(indentation).hasPrefix("```") {
                    if let block = open {
                        blocks.append(
                            Block(
                                page: self, language: block.language, firstLine: block.firstLine, lines: block.lines))
                        open = nil
                    } else {
                        open = (String(line.dropFirst(indentation + 3)), indentation, index + 2, [])
                    }
                } else if let block = open {
                    open?.lines.append(String(line.dropFirst(min(indentation, block.indentation))))
                }
            }
            guard open == nil else { throw TestSupportError("\(path): a fenced block has no end") }
            return blocks
        }
    }

    static func blocks(in languages: String...) -> [Block] {
        all.flatMap { (try? $0.blocks) ?? [] }.filter { languages.contains($0.language) }
    }
}
