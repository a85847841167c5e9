import ArgumentParser
import CommodoreGateway
import Elemental
import VirtualCommodore

/// How the Commodore is connected to a gateway: one of four ways.
struct LineOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A serial device, set to 8N1, with --acia to RTS/CTS.", valueName: "device"))
    var serial: String?

    @OptionGroup var terminal: PseudoTerminalOptions

    @Option(
        help: ArgumentHelp(
            "A TCP port to which an emulator connects (VICE's -rsdev1); port 0 lets the system choose.",
            valueName: "host:port"),
        transform: HostPort.listening(parsing:))
    var listen: HostPort?

    @Flag(help: "With --listen: use VICE's ip232 framing, with the signals DTR and DCD (-rsdev1ip232).")
    var ip232 = false

    @Option(
        help: ArgumentHelp(
            "A virtual Commodore in this process runs the program; lines on standard input are typed on its keyboard.",
            valueName: "program.prg"))
    var virtual: String?

    @Flag(help: "With --virtual: use an NTSC machine instead of a PAL one.")
    var ntsc = false

    @Flag(
        help: ArgumentHelp(
            "The line is that of a cartridge with an ACIA (SwiftLink, VICE's -acia1) instead of the user port's.",
            discussion: "The machine sets the pace by RTS and CTS, at 38400 baud unless --baud says otherwise."))
    var acia = false

    @OptionGroup var speed: BaudOptions

    var baud: Int { speed.baud ?? (acia ? 38400 : BaudOptions.usual) }

    func validate() throws {
        let ways = [serial != nil, terminal.pty, listen != nil, virtual != nil].filter { $0 }.count
        guard ways == 1 else {
            throw ValidationError(
                "give one of --serial DEVICE, --pty, --listen HOST:PORT, --virtual PROGRAM.prg"
                    + (ways > 1 ? ", not \(ways)" : ""))
        }
        guard !ip232 || listen != nil else { throw ValidationError("--ip232 needs --listen") }
        guard !ntsc || virtual != nil else { throw ValidationError("--ntsc needs --virtual") }
        guard !acia || virtual == nil else { throw ValidationError("--virtual has no ACIA; leave out --acia") }
        guard acia || baud <= BaudOptions.fastest else {
            throw ValidationError("the user port takes at most \(BaudOptions.fastest) baud; add --acia or lower --baud")
        }
    }

    /// The line. Reads the program of a virtual machine.
    func line(timeout: Duration) async throws -> GatewayLine {
        if let serial { return .serial(path: serial) }
        if let listen { return .tcp(host: listen.host, port: listen.port, usesIP232: ip232) }
        guard let virtual else { return .pseudoTerminal(link: terminal.link) }
        let program = try await Program.read(virtual, timeout: timeout, code: "invalidProgram")
        return .virtual(program, standard: ntsc ? .ntsc : .pal)
    }
}

struct BaudOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The line's speed in bits a second, the same at both ends: \(Self.list) (default: \(Self.usual))."))
    var baud: Int?

    static let usual = 1200
    /// The user port's highest speed.
    static let fastest = 2400

    func validate() throws {
        guard let baud, !GatewayConfiguration.bauds.contains(baud) else { return }
        throw ValidationError("--baud takes \(Self.list), not \(baud)")
    }

    private static var list: String { GatewayConfiguration.bauds.map(String.init).joined(separator: ", ") }
}

/// Options that save pictures of a virtual Commodore's screen at the end.
struct PictureOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Save the screen as a PNG file at the end.", valueName: "file"))
    var png: String?

    @Option(help: "The width and height in the PNG of one pixel of the screen, 1 to 8.")
    var scale = 2

    @Option(help: ArgumentHelp("Save the screen as an SVG file at the end.", valueName: "file"))
    var svg: String?

    func validate() throws {
        guard (1...8).contains(scale) else { throw ValidationError("--scale takes 1 to 8, not \(scale)") }
    }

    var areWanted: Bool { png != nil || svg != nil }

    /// Writes the requested files.
    func save(_ picture: Picture) throws {
        if let png { try FileContent.write(picture.png(scale: scale), to: png) }
        if let svg { try FileContent.write(picture.svg().utf8, to: svg) }
    }
}
