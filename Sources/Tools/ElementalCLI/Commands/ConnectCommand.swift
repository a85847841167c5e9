import ArgumentParser
import Elemental

struct ConnectCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Open a session with a service: list, get, set, watch, stats, ping, quit.",
        discussion: """
            Commands are typed at a prompt or come from a pipe. Values of watched elements are printed as they arrive. The \
            session ends with quit, at the end of the input, on Ctrl-C, and when the service ends. With --reconnect it \
            outlasts the connection: meanwhile, set keeps the newest value of an element marked latest and refuses others.

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
            try await client.withClient(output, console, elements: catalogue) {
                $0.wantsValues = true
                $0.reconnection = reconnection.policy
            } run: { client in
                try await client.reportingConnection {
                    // Waits for the current values, so that the first command can print them.
                    try? await client.device.waitUntilHandled(timeout: output.limit)
                    try await InteractiveSession(client: client, timeout: output.limit).run()
                }
            }
        }
    }
}
