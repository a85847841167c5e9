import ArgumentParser

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
