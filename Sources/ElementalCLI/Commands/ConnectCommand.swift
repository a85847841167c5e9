import ArgumentParser
import Elemental

/// A session with a service.
struct ConnectCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Open a session with a service: list, get, set, watch, stats, ping, quit.",
        discussion: """
            Commands are typed at a prompt or come from a pipe. Values of watched elements are printed as they come. It \
            ends with quit, with the input, on Ctrl-C, and with the service.

              $ elemental connect robot
              $ printf 'set Speed=0.5\\nget Speed\\n' | elemental connect robot

            \(SessionLine.helpText.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n"))
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let catalogue = try element.catalogue
        try await Interruption.run(console) { [client, output] in
            let client = try await Client.open(
                client.target, as: client.clientName, output, elements: catalogue, wantsValues: true)
            console.emit(.joined(device: client.device.name, address: client.device.addressText))
            do {
                try await InteractiveSession(client, console, timeout: output.limit).run()
            } catch {
                await client.device.close()
                throw error
            }
            await client.device.close()
        }
    }
}
