import Foundation
import TestSupport
import Testing

struct AttackTableTests {
    private static let rows: [[Substring]] = {
        let text = (try? Page.all.first { $0.name == "Security.md" }?.text) ?? ""
        let section = text.components(separatedBy: "## What an attacker gets\n").last ?? ""
        let table = section.prefix { $0 != "#" }.split(separator: "\n").filter { $0.hasPrefix("| ") }
        return table.dropFirst().map { $0.split(separator: "|") }
    }()

    @Test
    func everyAttackIsTested() throws {
        #expect(Self.rows.count >= 18)
        var functions: Set<String> = []
        let tests = Repository.path("Tests")
        let files = FileManager.default.enumerator(atPath: tests)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix("Tests.swift") {
            let text = try String(contentsOfFile: "\(tests)/\(file)", encoding: .utf8)
            for function in text.matches(of: /(?s)@Test\b.{0,2000}?\bfunc ([A-Za-z0-9]+)\(/) {
                functions.insert(String(function.1))
            }
        }
        for row in Self.rows {
            let names = row.dropFirst().joined(separator: "|").matches(of: /`([a-z][A-Za-z0-9]+)`/).map { String($0.1) }
            #expect(!names.isEmpty, "no test: \(row[0])")
            let missing = names.filter { !functions.contains($0) }
            #expect(missing.isEmpty, "\(row[0])")
        }
    }
}
