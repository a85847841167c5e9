import Foundation
import TestSupport
import Testing

/// The commands on the pages do what the pages say. Blocks run one at a time: a page's commands have the product's own time
/// limits, and a reader runs nothing else. Each has an avahi-daemon of its own where that is possible.
struct ShellBlockTests {
    @Test(.serialized, .backstop, arguments: blocks)
    func commandsRun(_ block: Page.Block) async throws {
        let commands = Stage.commands(for: block) + Self.commands(in: block)
        let programs = ["commodore.prg", "hello.prg", "program.prg"]
        if commands.contains(where: { command in programs.contains { command.text.contains($0) } }),
            let reason = CommodoreProgram.unavailableReason
        {
            return print("left out: \(block.testDescription): \(reason)")
        }
        if commands.contains(where: { $0.text.contains("localhost:5000") }) {
            guard Peers.areThere else {
                return print("left out: \(block.testDescription): there is no hub: Tests/install signalr")
            }
            try await Peers.withHub { _, port in try await run(commands, hub: "http://127.0.0.1:\(port)/hub") }
        } else {
            try await run(commands, hub: nil)
        }
    }

    private static let blocks = Page.blocks(in: "sh", "console").filter { !commands(in: $0).isEmpty }

    private static func commands(in block: Page.Block) -> [ShellCommand] {
        ShellCommand.commands(in: block).filter { command in
            !Omission.all.contains { $0.page == block.page.name && $0.command == command.text }
        }
    }

    private func run(_ commands: [ShellCommand], hub: String?) async throws {
        guard PrivateAvahi.unavailableReason == nil else {
            return try await Self.run(commands, hub: hub, environment: [:])
        }
        try await PrivateAvahi.with(hostName: "page") { avahi in
            try await Self.run(commands, hub: hub, environment: avahi.environment)
        }
    }

    private static func run(_ commands: [ShellCommand], hub: String?, environment: [String: String]) async throws {
        try await withFolder { folder in
            try await prepare(folder, for: commands)
            let session = try ShellSession(in: folder, environment: environment, hub: hub)
            do {
                for command in commands { try await session.type(command) }
                try await session.finish()
            } catch {
                await session.abandon()
                throw error
            }
        }
    }

    private static func prepare(_ folder: String, for commands: [ShellCommand]) async throws {
        if commands.contains(where: { $0.text.contains("commodore.prg") }) {
            let sample = "Samples/Commodore"
            try FileManager.default.createDirectory(atPath: "\(folder)/Samples", withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: Repository.path(sample), toPath: "\(folder)/\(sample)")
        }
        // The page refers to a program of the reader's own.
        for name in ["hello.prg", "program.prg"] where commands.contains(where: { $0.text.contains(name) }) {
            try Data(await CommodoreProgram.prg).write(to: URL(filePath: "\(folder)/\(name)"))
        }
    }

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
