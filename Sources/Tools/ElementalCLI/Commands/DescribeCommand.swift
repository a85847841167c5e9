import ArgumentParser
import Elemental

struct DescribeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Show a service's elements with their types and current values.",
        discussion: """
              $ elemental describe robot
              $ elemental describe 'robot/Rover'
              $ elemental describe 192.168.1.7:5000 --json
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .task) { [client, output] in
            try await client.withClient(output, console, elements: nil) {
                $0.advice = { "\($0.message) with --element, which get, set, watch and connect take" }
            } run: { client in
                // The current values arrive before the answer.
                try await client.device.waitUntilHandled(timeout: output.limit)
                await console.emit(client.description)
            }
        }
    }
}
