import Foundation
import TestSupport
import Testing

/// The README's first programs, unchanged.
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
}
