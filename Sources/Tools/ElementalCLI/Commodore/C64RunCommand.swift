import ArgumentParser
import Elemental
import Support
import VirtualCommodore

struct C64RunCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a program on a virtual Commodore 64, with its screen in this terminal.",
        discussion: """
            In a terminal the screen is shown live and in colour, at the machine's own speed, and keys go to its keyboard: \
            RETURN, the cursor keys, HOME (SHIFT-HOME clears), DEL, INST, F1 to F8; ESC is RUN/STOP. With --joystick the \
            cursor keys move that joystick and TAB is its button. Ctrl-C ends the program. The terminal needs 24-bit \
            colours and 40 columns by 25 rows; with 48 by 29 the border is shown too. Sprites and bitmaps appear only in \
            the PNG.

            In a pipe or a script the program runs as fast as it can for --frames or --seconds, and then its screen is \
            printed as text. Standard input is read first, to its end or the first 64 KiB, and typed. With --modem the \
            program runs at the machine's own speed there too, and input is typed as it arrives.

              $ elemental c64 run game.prg --joystick 2
              $ elemental c64 run commodore.prg --modem 192.168.1.7:6400
              $ elemental c64 run hello.prg --seconds 2 --png hello.png | cat
              $ echo "your name" | elemental c64 run hello.prg --frames 200

            --modem connects the user port to a gateway that listens (`elemental c64 gateway --listen`), and keeps trying \
            while it is away; the status is 1 if it was never reached. Without --modem nothing answers on the line.

            PROGRAM is a PRG file: a load address of two bytes, then machine language, with a BASIC line "SYS" before it \
            if it loads at $0801. There is no BASIC and no ROM; a program that needs what is missing stops with a reason.
            """)

    @Argument(help: ArgumentHelp("A PRG file.", valueName: "program"), completion: .file(extensions: ["prg"]))
    var path: String

    @Option(help: "The television standard: pal (50 frames a second) or ntsc (60).")
    var standard = Standard.pal

    @Option(
        help: ArgumentHelp("Connect the user port to a gateway there.", valueName: "host:port"),
        transform: { try HostPort(parsing: $0, ports: 1...65535) })
    var modem: HostPort?

    @Option(help: "The line's speed in bits a second: 300, 600, 1200 or 2400.")
    var baud = 1200

    @Option(help: "The port of the joystick that the cursor keys control: 1 or 2.")
    var joystick: Int?

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp("Text to type at the start; \\n is the RETURN key.", valueName: "text"))
    var typed: String?

    @Option(help: "End after that many frames.")
    var frames: Int?

    @Option(help: ArgumentHelp("End after that much of the machine's time.", valueName: "seconds"))
    var seconds: Seconds?

    @OptionGroup var pictures: PictureOptions
    @OptionGroup var output: OutputOptions

    enum Standard: String, ExpressibleByArgument, CaseIterable {
        case pal, ntsc

        var value: VideoStandard { self == .pal ? .pal : .ntsc }
    }

    func validate() throws {
        guard [300, 600, 1200, 2400].contains(baud) else {
            throw ValidationError("--baud takes 300, 600, 1200 or 2400, not \(baud)")
        }
        if let joystick, !(1...2).contains(joystick) {
            throw ValidationError("--joystick takes 1 or 2, not \(joystick)")
        }
        if let frames {
            guard seconds == nil else { throw ValidationError("give --frames or --seconds, not both") }
            guard (1...1_000_000_000).contains(frames) else {
                throw ValidationError("--frames takes a number from 1, not \(frames)")
            }
        }
        guard isShown || frames != nil || seconds != nil || modem != nil else {
            throw ValidationError("standard output is not a terminal: give --frames or --seconds, so that it ends")
        }
    }

    /// Whether the screen is shown live.
    var isShown: Bool { isatty(STDOUT_FILENO) == 1 && !output.json }

    func perform(_ console: Console) async throws {
        let program = try await Program.read(path, timeout: output.limit)
        let end = Locked<End?>(nil)
        try await Interruption.run(console) {
            let reached = try await emulate(program, console)
            end.withLock { $0 = reached }
        }
        if let end = end.withLock({ $0 }) { try await finish(end, console) }
    }

    /// How many cycles to run, if there is a limit.
    var cycles: UInt64? {
        if let frames { return UInt64(frames) * UInt64(standard.value.cyclesPerFrame) }
        return seconds.map { UInt64($0.duration / .seconds(1) * Double(standard.value.cyclesPerSecond)) }
    }

    /// Shown below the screen.
    var title: String {
        let fileName = path.split(separator: "/").last ?? path[...]
        return "\(fileName), \(standard.rawValue)" + (modem.map { ", modem \($0.host.withPort($0.port))" } ?? "")
    }

    private func finish(_ end: End, _ console: Console) async throws {
        try pictures.save(end.picture)
        if !isShown { await console.emit(end.report) }
        if let reason = end.stopReason {
            guard reason == .returnedToBasic else { throw CommandFailure("stopped", "the machine stopped: \(reason)") }
            if isShown { await console.talk("\(reason)") }
        }
        if let modem, let reason = end.modemFailure {
            throw CommandFailure(
                "connectionFailed", "no gateway was reached at \(modem.host.withPort(modem.port)): \(reason)")
        }
    }
}

extension Program {
    /// Reads a file of at most 64 KiB; without an address a PRG file, which begins with the address.
    static func read(
        _ path: String, at address: UInt16? = nil, timeout: Duration, code: String = "invalidFile"
    ) async throws -> Program {
        let content = try await FileContent.read(path, atMost: 65536 + (address == nil ? 2 : 0), timeout: timeout)
        do {
            return if let address { try Program(content, at: address) } else { try Program(prg: content) }
        } catch {
            throw CommandFailure(code, "file '\(path)': \(error)")
        }
    }
}
