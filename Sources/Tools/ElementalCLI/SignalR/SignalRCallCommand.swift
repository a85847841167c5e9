import ArgumentParser
import SignalR

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
