import ArgumentParser
import CommodoreGateway
import Elemental

/// The machine's end of a line in a person's hands.
struct C64TerminalCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminal",
        abstract: "Stand in the place of the Commodore: type modem commands, see every record.",
        discussion: """
            For people who write programs for the Commodore or firmware for its modem. Commands are read from standard \
            input; what goes (>) and what comes (<) is shown with its time in seconds, its bytes and its meaning. The end \
            of input ends it, half a second later.

              $ elemental c64 terminal /dev/ttyUSB0 --baud 1200
              $ elemental c64 terminal 127.0.0.1:25232
              $ printf 'wifi\\nconnect elemental:test\\n' | elemental c64 terminal 127.0.0.1:25232

            Commands:
              \(TerminalLine.help.joined(separator: "\n  "))
            """)

    @Argument(
        help: ArgumentHelp(
            "A device, such as /dev/ttyUSB0 or /dev/pts/3, or HOST:PORT to dial.",
            discussion: "Instead of it, --listen waits to be dialled, and --pty makes a pseudo-terminal."))
    var line: String?

    @Option(
        help: ArgumentHelp("A TCP port where the modem dials.", valueName: "host:port"),
        transform: TCPPlace.init(parsing:))
    var listen: TCPPlace?

    @Flag(help: "A pseudo-terminal that is made and named.")
    var pty = false

    @Option(help: "The speed of a device in bits a second.")
    var baud = 1200

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard [line != nil, listen != nil, pty].filter({ $0 }).count == 1 else {
            throw ValidationError("give one of LINE (a device or HOST:PORT), --listen HOST:PORT, --pty")
        }
        guard GatewayConfiguration.bauds.contains(baud) else {
            throw ValidationError(
                "--baud takes \(GatewayConfiguration.bauds.map(String.init).joined(separator: ", ")), not \(baud)")
        }
        _ = try place
    }

    private var place: LineTerminal.Place {
        get throws {
            if let listen { return .listen(host: listen.host, port: listen.port) }
            guard let line else { return .pseudoTerminal }
            if line.contains("/") { return .device(path: line, baud: baud) }
            do throws(TCPPlace.Problem) {
                let place = try TCPPlace(parsing: line)
                return .dial(host: place.host, port: place.port)
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
            case .ready(let name): console.offer(.line(name, state: "ready", reason: nil, retryIn: nil))
            case .opened: console.offer(.line(nil, state: "open", reason: nil, retryIn: nil))
            case .lost(let reason, let delay):
                console.offer(.line(nil, state: "lost", reason: reason, retryIn: delay))
            case .record(let bytes): console.offer(.record(bytes, isSent: false, isWhole: true, elapsed: elapsed))
            case .remains(let bytes): console.offer(.record(bytes, isSent: false, isWhole: false, elapsed: elapsed))
            }
        }
        do {
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
                        // What is typed early, or comes from a file, waits for the line.
                        await terminal.waitUntilOpen()
                        guard !Task.isCancelled else { return }
                        await console.emit(
                            .record(bytes, isSent: true, isWhole: true, elapsed: ContinuousClock.now - start))
                        terminal.send(bytes)
                    } catch {
                        await console.talk("ignored: \(error)")
                    }
                }
                // The answers to what was typed last.
                await Delay.wait(.milliseconds(500))
            }
        } catch {
            await terminal.close()
            throw error
        }
        await terminal.close()
    }
}
