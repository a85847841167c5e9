import Foundation
import TestSupport
import Testing

/// The commands on the pages do what the pages say. Serialized, because blocks publish services of the same names.
@Suite(.serialized)
struct ShellBlockTests {
    @Test(arguments: Page.blocks(in: "sh", "console"))
    func commandsRun(_ block: Page.Block) async throws {
        var commands: [ShellCommand] = []
        for command in ShellCommand.commands(in: block) {
            if let omission = Omission.all.first(where: { $0.page == block.page.name && $0.command == command.text }) {
                print("left out of \(block.testDescription): \(command.text): \(omission.reason)")
            } else {
                commands.append(command)
            }
        }
        guard !commands.isEmpty else { return }
        let all = Stage.commands(for: block) + commands
        let programs = ["commodore.prg", "hello.prg", "program.prg"]
        if all.contains(where: { command in programs.contains { command.text.contains($0) } }),
            let reason = CommodoreProgram.unavailableReason
        {
            return print("left out: \(block.testDescription): \(reason)")
        }
        if commands.contains(where: { $0.text.contains("localhost:5000") }) {
            guard Peers.areThere else {
                return print("left out: \(block.testDescription): there is no hub: Tests/signalr-peers/install")
            }
            try await Peers.withHub { _, port in try await run(all, hub: "http://127.0.0.1:\(port)/hub") }
        } else {
            try await run(all, hub: nil)
        }
    }

    private func run(_ commands: [ShellCommand], hub: String?) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "Samples"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        if commands.contains(where: { $0.text.contains("commodore.prg") }) {
            let sample = "Samples/Commodore"
            try FileManager.default.copyItem(
                at: Page.package.appending(path: sample), to: folder.appending(path: sample))
        }
        for command in commands {
            // The page refers to a program of the reader's own.
            for name in ["hello.prg", "program.prg"] where command.text.contains(name) {
                try Data(await CommodoreProgram.prg).write(to: folder.appending(path: name))
            }
        }
        let session = try ShellSession(in: folder, hub: hub)
        do {
            for command in commands { try await session.type(command) }
            try await session.finish()
        } catch {
            await session.abandon()
            throw error
        }
    }

    /// Every omitted command is still on its page.
    @Test(arguments: Omission.all.indices)
    func whatIsLeftOutIsOnItsPage(_ index: Int) throws {
        let omission = Omission.all[index]
        let page = try #require(Page.all.first { $0.name == omission.page })
        let commands = try page.blocks.flatMap(ShellCommand.commands).map(\.text)
        #expect(commands.contains(omission.command), "\(omission.page): \(omission.command)")
    }

    @Test
    func everyStageIsNeeded() throws {
        for stage in Stage.all {
            let page = try #require(Page.all.first { $0.name == stage.page })
            #expect(try page.blocks.contains { $0.text.contains(stage.mark) }, "\(stage.page): \(stage.mark)")
        }
    }
}
