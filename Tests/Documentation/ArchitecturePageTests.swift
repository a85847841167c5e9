import Foundation
import TestSupport
import Testing

/// The page for contributors: its table has all modules, and what it names exists.
struct ArchitecturePageTests {
    private var page: Page { Page(path: "Sources/Core/Elemental/Elemental.docc/Architecture.md") }

    @Test
    func theTableHasAllModulesInTheirFolders() throws {
        let manifest = try String(contentsOfFile: Repository.path("Package.swift"), encoding: .utf8)
        let targets = manifest.split(separator: /\n {8}\.(executableTarget|target|systemLibrary)\(/)
        let modules = targets.compactMap { target in
            target.firstMatch(of: /name: "(\w+)"[\s\S]*?path: "Sources\/(\w+)/).map { "\($0.1) in \($0.2)" }
        }
        let rows = try page.text.matches(of: /\n\| `(\w+)` \| (\w+) \|/).map { "\($0.1) in \($0.2)" }
        #expect(rows.sorted() == modules.sorted())
    }

    /// Files, folders, and words of Swift, which are looked for in the sources.
    @Test
    func everyNameExists() throws {
        let files = ["Sources", "Samples"].flatMap { folder in
            FileManager.default.enumerator(atPath: Repository.path(folder))?.compactMap { "\(folder)/\($0)" } ?? []
        }
        let code = try files.filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }.map {
            try String(contentsOfFile: Repository.path($0), encoding: .utf8)
        }
        let words = Set(code.flatMap { $0.split { !($0.isLetter || $0.isNumber || $0 == "_") } })
        for name in try page.text.matches(of: /`([^`]+)`/).map({ String($0.1) }) {
            let exists =
                FileManager.default.fileExists(atPath: Repository.path(name))
                || files.contains { $0.hasSuffix("/\(name)") } || name.split(separator: ".").allSatisfy(words.contains)
            #expect(exists, "\(name)")
        }
    }

    /// Whoever adds an atomic says why its order is enough where the processor reorders.
    @Test
    func theTableOfMemoryOrderHasAllAtomicsOfTheCore() throws {
        let section = try #require(page.text.firstMatch(of: /Memory order\n[\s\S]*?\n[#]+ Modules/))
        let named = Set(section.output.matches(of: /\n\| `([\w+]+\.swift)`/).map { String($0.1) })
        let core = Repository.path("Sources/Core")
        let files = FileManager.default.enumerator(atPath: core)?.compactMap { $0 as? String } ?? []
        var using: Set<String> = []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(core)/\(file)", encoding: .utf8)
            if text.contains(/Atomic[(<]/) { using.insert(URL(filePath: file).lastPathComponent) }
        }
        #expect(named == using)
    }
}
