import ArgumentParser
import Elemental

struct SetCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Send values to a service and wait until it has handled them.",
        discussion: """
            Numbers are decimal, or 0x and hexadecimal digits; bool takes true/false, yes/no, on/off, 1/0; vectors are \
            numbers separated by commas; data is pairs of hexadecimal digits. A value that does not fit the element's type \
            is refused. @FILE reads a string or data from a file, @/dev/stdin from a pipe; write @@ for a text that begins \
            with @.

              $ elemental set robot Speed=0.5 'Left arm=0,0.5,1'
              $ elemental set display Picture=@picture.png
              $ elemental set 192.168.1.7:5000 Light=on --element 1:Light:bool
            """)

    @OptionGroup var client: ClientOptions

    @Argument(help: ArgumentHelp("Elements and their values.", valueName: "name=value"))
    var assignments: [String]

    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        for text in assignments where !text.contains("=") {
            throw ValidationError("'\(text.excerpt)' is not NAME=VALUE")
        }
    }

    func perform(_ console: Console) async throws {
        let catalogue = try element.catalogue
        try await Interruption.run(console, .task) { [client, assignments, output] in
            try await client.withClient(output, console, elements: catalogue) {
                $0.showsIncoming = false
            } run: { client in
                // All are parsed before the first is sent, so that a mistake in the last one changes nothing.
                var parsed: [Assignment] = []
                var failures: [CommandFailure] = []
                for text in assignments {
                    do {
                        parsed.append(
                            try await Assignment(
                                parsing: text, among: client.elements, of: client.device.name,
                                readingFilesFor: output.limit))
                    } catch {
                        failures.append(CommandFailure(error))
                    }
                }
                if let failure = failures.decisive { throw failure }
                try await client.send(parsed, timeout: output.limit)
                for assignment in parsed {
                    await console.emit(.set(client.device.key, assignment.element, assignment.value))
                }
            }
        }
    }
}
