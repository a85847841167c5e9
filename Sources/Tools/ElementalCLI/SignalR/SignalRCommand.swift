import ArgumentParser

/// The commands for SignalR hubs.
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
              $ elemental signalr stream https://example.org/stocks Prices '{"symbol":"ACME"}' --token @token.txt
            """,
        subcommands: [
            SignalRCallCommand.self, SignalRSendCommand.self, SignalRListenCommand.self, SignalRStreamCommand.self,
            SignalRBridgeCommand.self,
        ])
}

/// The hub, method and arguments of a call.
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
