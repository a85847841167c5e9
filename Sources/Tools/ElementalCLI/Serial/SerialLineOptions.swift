import ArgumentParser
import SerialGateway

/// The lines to devices: one or more, of four kinds.
struct SerialLineOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A serial device, best by its name under /dev/serial/by-id; may be given several times.",
            valueName: "device"))
    var serial: [String] = []

    @OptionGroup var terminal: PseudoTerminalOptions

    @Option(
        help: ArgumentHelp(
            "A TCP port to which a device or an emulator connects; port 0 lets the system choose. May be given several times.",
            valueName: "host:port"),
        transform: HostPort.listening(parsing:))
    var listen: [HostPort] = []

    @Option(
        help: ArgumentHelp(
            "A TCP port to connect to, such as QEMU's serial port; may be given several times.", valueName: "host:port"),
        transform: { try HostPort(parsing: $0, ports: 1...65535) })
    var dial: [HostPort] = []

    @Option(help: "The speed of the serial devices in bits a second.")
    var baud = 115_200

    private static let maximumLineCount = 64

    func validate() throws {
        guard SerialLine.bauds.contains(baud) else {
            throw ValidationError(
                "--baud takes \(SerialLine.bauds.map(String.init).joined(separator: ", ")), not \(baud)")
        }
        guard Set(serial).count == serial.count else { throw ValidationError("a --serial device is given twice") }
        guard lines.count <= Self.maximumLineCount else {
            throw ValidationError("at most \(Self.maximumLineCount) lines can be given, not \(lines.count)")
        }
    }

    /// The lines, in the order of the options in the help.
    var lines: [SerialLine] {
        serial.map { .serial(path: $0, baud: baud) } + (terminal.pty ? [.pseudoTerminal(link: terminal.link)] : [])
            + listen.map { .listen(host: $0.host, port: $0.port) } + dial.map { .dial(host: $0.host, port: $0.port) }
    }
}
