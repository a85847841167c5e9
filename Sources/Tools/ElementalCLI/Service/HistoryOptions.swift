import ArgumentParser
import Elemental
import SerialGateway
import Support

/// Where a service keeps the values of elements with a history.
struct HistoryOptions: ParsableArguments {
    enum Place: String, ExpressibleByArgument, CaseIterable {
        case files, memory
    }

    @Option(
        name: .customLong("history"),
        help: ArgumentHelp(
            "Where values of elements with a history are kept: files, which outlast this program, or memory (default: files).",
            valueName: "place"))
    var place: Place?

    @Option(
        name: .customLong("history-sync"),
        help: ArgumentHelp(
            "The minimum time between two syncs of the files to the disk (default: 10).",
            valueName: "seconds"))
    var interval: Seconds?

    func validate() throws {
        if place == .memory, interval != nil { throw ValidationError("--history-sync needs --history files") }
    }

    /// Where a gateway keeps the values of devices.
    func devices(_ limits: HistoryLimits, _ state: StateOptions) -> DeviceHistories {
        guard place != .memory else { return .inMemory(limits) }
        return .inFiles(limits, directory: state.state, interval: interval?.duration ?? .seconds(10))
    }

    /// Opens the files; `nil` if the values are kept in memory, or if no element has a history.
    func open(
        _ service: String, for specs: [ElementSpec], _ state: StateOptions, _ console: Console
    ) async throws -> ServiceHistories? {
        guard place != .memory, specs.contains(where: { $0.definition.history != nil }) else { return nil }
        let elements = try checked { try ElementCatalogue(specs.map(\.definition)) }
        do throws(SecurityError) {
            return try await ServiceHistories(
                inFilesOf: service, for: elements, directory: state.state,
                interval: interval?.duration ?? .seconds(10))
        } catch {
            guard error.code != .corrupt else { throw error }
            throw SecurityError(error.code, "\(error.message); or keep the values in memory: --history memory")
        }
    }
}
