import ArgumentParser
import CommodoreGateway
import Elemental
import SerialLines
import Support

struct C64TerminalCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminal",
        abstract: "Take the place of the Commodore: type modem commands, see every record.",
        discussion: """
            For people who write programs for the Commodore or firmware for its modem. Commands are read from standard \
            input; every record sent (>) and received (<) is shown with its time in seconds, its bytes and its meaning. \
            The command ends half a second after the end of the input.

              $ elemental c64 terminal /dev/ttyUSB0 --baud 1200
              $ elemental c64 terminal 127.0.0.1:25232
              $ printf 'wifi\\nconnect elemental:test\\n' | \\
                  elemental c64 terminal 127.0.0.1:25232

            Commands:
              \(TerminalLine.help.joined(separator: "\n  "))
            """)

    @Argument(
        help: ArgumentHelp(
            "A device, such as /dev/ttyUSB0 or /dev/pts/3, or HOST:PORT to connect to.",
            discussion: "Instead, --listen waits for a connection, and --pty makes a pseudo-terminal."))
    var line: String?

    @Option(
        help: ArgumentHelp("A TCP port to which the modem connects.", valueName: "host:port"),
        transform: HostPort.listening(parsing:))
    var listen: HostPort?

    @Flag(help: "Make a pseudo-terminal, whose name is printed.")
    var pty = false

    @OptionGroup var speed: BaudOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard [line != nil, listen != nil, pty].filter({ $0 }).count == 1 else {
            throw ValidationError("give one of LINE (a device or HOST:PORT), --listen HOST:PORT, --pty")
        }
        _ = try place
    }

    private var place: LinePlace {
        get throws {
            if let listen { return .listen(host: listen.host, port: listen.port) }
            guard let line else { return .pseudoTerminal(link: nil) }
            if line.contains("/") { return .device(path: line, baud: speed.baud ?? BaudOptions.usual) }
            do throws(ValidationError) {
                let address = try HostPort(parsing: line, ports: 0...65535)
                return .dial(host: address.host, port: address.port)
            } catch {
                throw ValidationError("LINE: \(error); a device has a '/' in its path")
            }
        }
    }

    func perform(_ console: Console) async throws {
        await Interruption.trap()
        let start = ContinuousClock.now
        let terminal = try await LineTerminal.open(try place) { event in
            let elapsed = ContinuousClock.now - start
            switch event {
            case .line(let event): console.offer(.line(event))
            case .record(let bytes, let isWhole):
                console.offer(.record(bytes, elapsed: elapsed, isWhole: isWhole))
            }
        }
        try await withCleanup {
            try await Interruption.run(console) {
                let input = InputLines(limit: InputLines.longestCommand)
                while let line = await input.next() {
                    do {
                        let line = try line.get()
                        guard !line.allSatisfy(\.isWhitespace) else { continue }
                        if line.lowercased() == "help" {
                            for line in TerminalLine.help { await console.talk(line) }
                            continue
                        }
                        let bytes = try TerminalLine.bytes(line)
                        // Input that comes before the line is open, from a file for instance, waits for it.
                        await terminal.waitUntilOpen()
                        guard !Task.isCancelled else { return }
                        await console.emit(.record(bytes, elapsed: ContinuousClock.now - start, isSent: true))
                        terminal.send(bytes)
                    } catch {
                        await console.talk("ignored: \(error)")
                    }
                }
                // Time for the answers to the last command.
                await Delay.wait(.milliseconds(500))
            }
        } cleanup: {
            await terminal.close()
        }
    }
}
