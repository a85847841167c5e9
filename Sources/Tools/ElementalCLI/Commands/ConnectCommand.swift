import ArgumentParser
import Elemental

/// A session with a service.
struct ConnectCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Open a session with a service: list, get, set, watch, stats, ping, quit.",
        discussion: """
            Commands are typed at a prompt or come from a pipe. Values of watched elements are printed as they come. It \
            ends with quit, with the input, on Ctrl-C, and with the service. With --reconnect it outlasts the connection: \
            meanwhile, set keeps the newest value of an element marked latest and refuses others.

              $ elemental connect robot
              $ elemental connect robot --reconnect
              $ printf 'set Speed=0.5\\nget Speed\\n' | elemental connect robot

            \(SessionLine.helpText.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n"))
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var reconnection: ReconnectOptions
    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let catalogue = try element.catalogue
        try await Interruption.run(console) { [client, reconnection, output] in
            try await Client.with(
                client.target, as: client.clientName, output, console, elements: catalogue,
                limits: client.limits.device, wantsValues: true,
                reconnection: reconnection.policy
            ) { client in
                await console.emit(.joined(device: client.device.name, address: client.device.addressText))
                try await client.tellingReconnections(console) {
                    // What the service has set is there before the first command asks for it.
                    try? await client.settle(timeout: output.limit)
                    try await InteractiveSession(client, console, timeout: output.limit).run()
                }
            }
        }
    }
}
