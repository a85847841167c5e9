import ArgumentParser
import Elemental
import Support

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Remove values that services of this machine keep in files.",
        discussion: """
            A service keeps the values of elements that are published with 'history' in files of the directory of --state, \
            for clients that request them later.

              $ elemental history clear weather
            """,
        subcommands: [HistoryClearCommand.self])
}

struct HistoryClearCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove the values that a service keeps in files, of one element or of all.",
        discussion: """
            Stop the service first. Later, it informs clients that values are missing.

              $ elemental history clear weather
              $ elemental history clear weather Temperature
            """)

    @Argument(help: "The service's name, such as weather.")
    var service: String

    @Argument(help: "The element's name (default: all).")
    var element: String?

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let cleared = try await Blocking.run { [service, element, state] in
            try ServiceHistories.clear(service, element, directory: state.state)
        }
        if let element, cleared.isEmpty {
            throw CommandFailure("unknownElement", "service '\(service)' has no values of '\(element)' in files")
        }
        for (name, byteCount) in cleared.sorted(by: { $0.key < $1.key }) {
            await console.emit(.historyCleared(service, name, byteCount))
        }
        if cleared.isEmpty { await console.talk("service '\(service)' has no values in files") }
    }
}

extension ConsoleEvent where Self == Notice {
    static func historyCleared(_ service: String, _ element: String, _ byteCount: Int) -> Notice {
        Notice(
            "historyCleared",
            [("service", .string(service)), ("element", .string(element)), ("bytes", .integer(byteCount))],
            isResult: true, "\(element): removed, \(byteCount) bytes")
    }
}
