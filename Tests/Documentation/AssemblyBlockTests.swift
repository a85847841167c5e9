import Foundation
import TestSupport
import Testing

/// The 6502 assembly on the pages is taken by ca65.
@Suite(.enabled(if: CommodoreProgram.isAvailable, "cc65 is missing"))
struct AssemblyBlockTests {
    @Test(arguments: Page.blocks(in: "asm"))
    func assemblyAssembles(_ block: Page.Block) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString).s")
        defer {
            for path in [file.path, file.path + ".o"] { try? FileManager.default.removeItem(atPath: path) }
        }
        try (block.text + "\n").write(to: file, atomically: false, encoding: .utf8)
        try await ChildProcess.run("ca65", ["-t", "c64", "-o", file.path + ".o", file.path])
    }
}
