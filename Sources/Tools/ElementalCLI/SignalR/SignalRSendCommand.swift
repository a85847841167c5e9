import ArgumentParser
import Elemental
import SignalR
import Support

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
