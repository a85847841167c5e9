import Foundation
import TestSupport
import Testing

/// The 6502 assembly on the pages is taken by ca65.
@Suite(.enabled(if: CommodoreProgram.isAvailable, "cc65 is missing"))
struct AssemblyBlockTests {
    @Test(arguments: Page.blocks(in: "asm"))
    func assemblyAssembles(_ block: Page.Block) async throws {
        try await withFolder { folder in
            let file = folder + "/page.s"
            try (block.text + "\n").write(toFile: file, atomically: false, encoding: .utf8)
            try await ChildProcess.run("ca65", ["-t", "c64", "-o", file + ".o", file])
        }
    }
}
