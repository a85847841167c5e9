import Foundation
import TestSupport
import Testing

/// The README's first programs, unchanged, and its table of modules.
struct ReadmeTests {
    private var readme: Page { Page(path: "README.md") }

    @Test(.backstop)
    func theFirstProgramsTalkToEachOther() async throws {
        let blocks = try readme.blocks.filter { $0.language == "swift" && $0.text.contains("import Elemental") }
        let shared = try #require(blocks.first { $0.file != nil })
        let file = try #require(shared.file)
        let programs = blocks.filter { $0.file == nil }
        let service = try #require(programs.first { $0.text.contains("ElementalService(") })
        let client = try #require(programs.first { $0.text.contains("ElementalBrowser(") })

        try await withFolder { folder in
            let compiler = try SwiftCompiler()
            for (name, program) in [("service", service), ("client", client)] {
                let complaint = try await compiler.compile(
                    program.text, with: [file: shared.text], to: "\(folder)/\(name)")
                try #require(complaint.isEmpty, "\(name): \(complaint)")
            }
            try await ChildProcess.with("stdbuf", ["-oL", "\(folder)/service"]) { service in
                try await ChildProcess.with("stdbuf", ["-oL", "\(folder)/client"]) { client in
                    try await service.nextLine { $0 == "Rob's iPhone wants 0.8" }
                    try await client.nextLine { $0 == "The brightness is 0.5" }
                    client.send(signal: SIGINT)
                    #expect(try await client.waitForExit() == .exited(0), "\(client.transcript)")
                }
                service.send(signal: SIGINT)
                #expect(try await service.waitForExit() == .exited(0), "\(service.transcript)")
            }
        }
    }

    /// The column "depends on" has the dependencies in Package.swift on this package's own modules, without internal ones.
    @Test
    func theTableOfModulesIsTrue() throws {
        let manifest = try String(contentsOfFile: Repository.path("Package.swift"), encoding: .utf8)
        let listed = try readme.text.matches(of: /\n\| `([A-Za-z]+)` \| [^|]* \| ([^|\n]*) ?\|/).map { row in
            (name: String(row.1), uses: Set(row.2.matches(of: /`([A-Za-z]+)`/).map { String($0.1) }), text: row.2)
        }
        let names = Set(listed.map(\.name))
        let targets = manifest.split(separator: /\n {8}\.(executableT|t)arget\(/)
        for (name, uses, text) in listed {
            let target = try #require(
                targets.first { $0.trimmingPrefix(while: \.isWhitespace).hasPrefix("name: \"\(name)\"") },
                "Package.swift has no target \(name)")
            let dependencies = Set(target.matches(of: /"([A-Za-z]+)"/).map { String($0.1) }).intersection(names)
                .subtracting([name])
            if text.hasPrefix("all of these but") {
                #expect(dependencies == names.subtracting(uses).subtracting([name]), "\(name)")
            } else {
                #expect(dependencies == uses, "\(name)")
            }
        }
    }
}
