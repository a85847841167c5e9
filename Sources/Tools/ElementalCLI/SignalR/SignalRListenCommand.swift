import ArgumentParser
import Elemental
import SignalR
import Support

struct SignalRListenCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Print a hub's calls to its clients' methods as they arrive.",
        discussion: """
            Prints the method and the arguments, in JSON, of each call. It ends on Ctrl-C, after --count calls, after --for, \
            and when the hub closes the connection; the status is 1 if the connection broke, 5 if fewer than --count \
            calls arrived. Some hubs expect a call first, to join a group for example: --call makes it, again after each \
            reconnection.

              $ elemental signalr listen http://localhost:5000/chat AddMessage UserLeft \\
                  --reconnect
              $ elemental signalr listen http://localhost:5000/chat AddMessage \\
                  --call Join --call lobby --count 1 --json
            """)

    @Argument(help: ArgumentHelp("The hub's address, as in http://localhost:5000/chat.", valueName: "url"))
    var url: String

    @Argument(help: ArgumentHelp("The names of the methods that the hub calls.", valueName: "method"))
    var methods: [String]

    @Option(
        name: .customLong("call"),
        help: ArgumentHelp(
            "The first --call names a method of the hub to call at the start, further ones are its arguments.",
            valueName: "method"))
    var opening: [String] = []

    @OptionGroup var amount: AmountOptions
    @OptionGroup var reconnection: HubReconnectOptions
    @OptionGroup var hub: HubOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try HubOptions.check(url: url)
        _ = try openingArguments
    }

    private var openingArguments: [HubValue] {
        get throws { try opening.dropFirst().map { try HubArgument(parsing: $0).value } }
    }

    func perform(_ console: Console) async throws {
        let arguments = try openingArguments
        let (url, methods, opening) = (url, methods, opening.first)
        try await Interruption.run(console, amount.work) { [amount, reconnection, hub, output] in
            let remaining = amount.counter
            let enough = Latch()
            let connection = try await hub.connection(to: url, output, reconnects: reconnection.reconnect)
            let prepare: (HubConnection) -> Void = { connection in
                for method in methods {
                    connection.onAny(method) { call in
                        // A call that cannot be decoded throws here and does not count.
                        let arguments: [HubValue] = try call.decodeAll()
                        let left = remaining.decrement()
                        guard left >= 0 else { return }
                        await console.emit(HubMessageEvent(method: call.method, content: .invocation(arguments)))
                        if left == 0 { enough.open() }
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
                await Interruption.limit(to: amount.time?.duration) {
                    await Interruption.first {
                        let error = await client.reportUntilClosed {
                            guard let opening else { return }
                            do {
                                try await connection.send(opening, arguments: arguments)
                            } catch {
                                await console.talk("'\(opening)' could not be called again: \(error)")
                            }
                        }
                        failure.withLock { $0 = error }
                    } or: {
                        await enough.wait()
                    }
                }
                if let error = failure.withLock({ $0 }) { throw error }
                try amount.expectAll(remaining, of: "calls")
            }
        }
    }
}
