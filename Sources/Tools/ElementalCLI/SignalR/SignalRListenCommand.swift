import ArgumentParser
import Elemental
import SignalR

/// Prints the calls of a hub.
struct SignalRListenCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Print the hub's calls of methods of its clients, as they come.",
        discussion: """
            Each is printed as its method and its arguments in JSON. It ends on Ctrl-C, after --count calls, after --for, \
            and with the hub; the status is 1 if the connection broke or fewer than --count calls came. A hub may want to \
            be called first, to join a group: --call does it, after each reconnection again.

              $ elemental signalr listen http://localhost:5000/chat AddMessage UserLeft --reconnect
              $ elemental signalr listen http://localhost:5000/chat AddMessage --call Join --call lobby --count 1 --json
            """)

    @Argument(help: ArgumentHelp("The hub's address, as in http://localhost:5000/chat.", valueName: "url"))
    var url: String

    @Argument(help: ArgumentHelp("The methods that the hub calls.", valueName: "method"))
    var methods: [String]

    @Option(
        name: .customLong("call"),
        help: ArgumentHelp(
            "A method of the hub to call first, and then each of its arguments; given once for each.",
            valueName: "method"))
    var opening: [String] = []

    @Option(help: "How many calls to print.")
    var count: Int?

    @Option(name: .customLong("for"), help: ArgumentHelp("How long to listen.", valueName: "seconds"))
    var time: Seconds?

    @OptionGroup var reconnection: HubReconnectOptions
    @OptionGroup var hub: HubOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try HubOptions.check(url: url)
        if let count, count < 1 { throw ValidationError("--count takes a number above 0, not \(count)") }
        _ = try openingArguments
    }

    private var openingArguments: [HubValue] {
        get throws {
            do {
                return try opening.dropFirst().map { try HubArgument(parsing: $0).value }
            } catch {
                throw ValidationError("\(error)")
            }
        }
    }

    func perform(_ console: Console) async throws {
        let arguments = try openingArguments
        let (url, methods, opening, count, time) = (url, methods, opening.first, count, time?.duration)
        try await Interruption.run(console, count == nil ? .endless : .counted) { [reconnection, hub, output] in
            let remaining = Counter(count ?? .max)
            let (enough, isEnough) = AsyncStream.makeStream(of: Void.self)
            let connection = try await hub.connection(to: url, output, reconnects: reconnection.reconnect)
            let prepare: (HubConnection) -> Void = { connection in
                for method in methods {
                    connection.onAny(method) { call in
                        // One that cannot be read is not one of those that were asked for.
                        let arguments: [HubValue] = try call.decodeAll()
                        let left = remaining.decrement()
                        guard left >= 0 else { return }
                        await console.emit(.hub(.invocation(method: call.method, arguments)))
                        if left == 0 { isEnough.finish() }
                    }
                }
            }
            try await HubClient.with(url, connection, console, prepare: prepare) { client in
                if let opening {
                    try await client.limited(opening, output.limit) {
                        _ = try await connection.invoke(opening, arguments: arguments, returning: HubValue.self)
                    }
                }
                let failure = Locked<SignalRError?>(nil)
                await Interruption.limit(to: time) {
                    await Interruption.first {
                        let error = await client.tellUntilClosed {
                            guard let opening else { return }
                            do {
                                try await connection.send(opening, arguments: arguments)
                            } catch {
                                await console.talk("'\(opening)' could not be called again: \(error)")
                            }
                        }
                        failure.withLock { $0 = error }
                    } or: {
                        for await _ in enough {}
                    }
                }
                if let error = failure.withLock({ $0 }) { throw error }
                if let count, remaining.value > 0 {
                    try Task.checkCancellation()
                    throw CommandFailure("timedOut", "\(remaining.value) of \(count) calls did not come")
                }
            }
        }
    }
}
