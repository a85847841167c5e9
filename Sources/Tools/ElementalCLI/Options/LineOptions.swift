import ArgumentParser
import CommodoreGateway
import Elemental
import VirtualCommodore

/// Where the Commodore is attached to a gateway: one of four ways.
struct LineOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A serial device, set to 8N1 without flow control.", valueName: "device"))
    var serial: String?

    @Flag(help: "A pseudo-terminal that is made and named, for an emulator that takes a device.")
    var pty = false

    @Option(help: ArgumentHelp("With --pty: make a symbolic link to it, so that its name stays.", valueName: "path"))
    var link: String?

    @Option(
        help: ArgumentHelp(
            "A TCP port that an emulator dials (VICE's -rsdev1); port 0 lets the system choose.",
            valueName: "host:port"),
        transform: TCPPlace.init(parsing:))
    var listen: TCPPlace?

    @Flag(help: "With --listen: VICE's framing with the wires DTR and DCD (-rsdev1ip232).")
    var ip232 = false

    @Option(
        help: ArgumentHelp(
            "A virtual Commodore in this process that runs the program; lines on standard input are typed on its keyboard.",
            valueName: "program.prg"))
    var virtual: String?

    @Flag(help: "With --virtual: an NTSC machine instead of a PAL one.")
    var ntsc = false

    @Option(
        help: ArgumentHelp(
            "The line's speed in bits a second, the same at both ends: "
                + GatewayConfiguration.bauds.map(String.init).joined(separator: ", ") + "."))
    var baud = 1200

    func validate() throws {
        let ways = [serial != nil, pty, listen != nil, virtual != nil].filter { $0 }.count
        guard ways == 1 else {
            throw ValidationError(
                "give one of --serial DEVICE, --pty, --listen HOST:PORT, --virtual PROGRAM.prg"
                    + (ways > 1 ? ", not \(ways)" : ""))
        }
        guard link == nil || pty else { throw ValidationError("--link goes with --pty") }
        guard !ip232 || listen != nil else { throw ValidationError("--ip232 goes with --listen") }
        guard !ntsc || virtual != nil else { throw ValidationError("--ntsc goes with --virtual") }
        guard GatewayConfiguration.bauds.contains(baud) else {
            throw ValidationError(
                "--baud takes \(GatewayConfiguration.bauds.map(String.init).joined(separator: ", ")), not \(baud)")
        }
    }

    /// The line, with the program read.
    func line(timeout: Duration) async throws -> GatewayLine {
        if let serial { return .serial(path: serial) }
        if let listen { return .tcp(host: listen.host, port: listen.port, usesIP232: ip232) }
        guard let virtual else { return .pseudoTerminal(link: link) }
        do {
            let program = try Program(prg: try await FileContent.program(virtual, timeout: timeout))
            return .virtual(program, standard: ntsc ? .ntsc : .pal)
        } catch let error as ProgramError {
            throw CommandFailure("invalidProgram", "file '\(virtual)': \(error)")
        }
    }
}

/// A host and a port as they are typed; an IPv6 address in brackets.
struct TCPPlace: Sendable {
    let host: String
    let port: Int

    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    init(parsing text: String) throws(Problem) {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let port = PortNumber.parse(text[text.index(after: colon)...], allowed: 0...65535)
        else { throw Problem(description: "'\(text.excerpt)' is no HOST:PORT, such as 127.0.0.1:25232") }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        self.host = String(host)
        self.port = port
    }
}
