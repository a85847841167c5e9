import ArgumentParser
import Elemental
import SignalR
import Support

struct SignalRCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signalr",
        abstract: "Talk to a SignalR hub: call its methods, print its calls, bridge a service to it.",
        discussion: """
            URL is the hub's address and begins with http://, https://, ws:// or wss://. Arguments are JSON; anything else \
            is taken as text, so 5 is a number, '"5"' and hello are text. After -- an argument may begin with -.

              $ elemental signalr call http://localhost:5000/chat Add 40 2
              $ elemental signalr send http://localhost:5000/chat Say Ada 'Hello, all'
              $ elemental signalr listen http://localhost:5000/chat AddMessage --reconnect
              $ elemental signalr bridge robot --hub https://example.org/robots?name=Rover
              $ elemental signalr stream https://example.org/stocks Prices \\
                  '{"symbol":"ACME"}' --token @token.txt
            """,
        subcommands: [
            SignalRCallCommand.self, SignalRSendCommand.self, SignalRListenCommand.self, SignalRStreamCommand.self,
            SignalRBridgeCommand.self,
        ])
}

struct HubCallOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The hub's address, as in http://localhost:5000/chat.", valueName: "url"))
    var url: String

    @Argument(help: ArgumentHelp("The hub's method.", valueName: "method"))
    var method: String

    @Argument(
        help: ArgumentHelp("The method's arguments, as JSON or plain text.", valueName: "argument"),
        transform: HubArgument.init(parsing:))
    var arguments: [HubArgument] = []

    func validate() throws {
        try HubOptions.check(url: url)
        if method.isEmpty { throw ValidationError("METHOD is empty; give the name of a method of the hub") }
    }
}

struct SignalRCallCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call a hub's method and print its result as JSON.",
        discussion: """
            Prints null for a method without a result. The status is 1 if the method fails, 5 if it does not answer \
            within --timeout.

              $ elemental signalr call http://localhost:5000/chat Add 40 2
              42
              $ elemental signalr call http://localhost:5000/chat Move '{"x":1,"y":2}' \\
                  --json | jq .result
              $ elemental signalr call http://localhost:5000/chat Add -- -1 2
            """)

    @OptionGroup var call: HubCallOptions
    @OptionGroup var hub: HubOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .task) { [call, hub, output] in
            let connection = try await hub.connection(to: call.url, output, reconnects: false)
            try await HubClient.with(call.url, connection, console) { client in
                let result = try await client.limited(call.method, output.limit) {
                    try await connection.invoke(
                        call.method, arguments: call.arguments.map(\.value), returning: HubValue.self)
                }
                await console.emit(HubMessageEvent(method: call.method, content: .result(result)))
            }
        }
    }
}

struct SignalRSendCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Call a hub's method without waiting for its result.",
        discussion: """
            When the command ends, the message has been sent; whether the hub has such a method, and whether the call \
            succeeds, remains unknown. 'call' waits for the result.

              $ elemental signalr send http://localhost:5000/chat Say Ada 'Hello, all'
            """)

    @OptionGroup var call: HubCallOptions

    @Option(
        help: ArgumentHelp(
            "How long to stay connected afterwards (default: 0.25).",
            discussion: "Some hubs cancel a connection's calls when it ends.", valueName: "seconds"))
    var linger: Seconds?

    @OptionGroup var hub: HubOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .task) { [call, hub, output, linger] in
            let connection = try await hub.connection(to: call.url, output, reconnects: false)
            try await HubClient.with(call.url, connection, console) { _ in
                try await connection.send(call.method, arguments: call.arguments.map(\.value))
                await console.emit(.sentCall(call.method))
                await Delay.wait(linger?.duration ?? .milliseconds(250))
            }
        }
    }
}
