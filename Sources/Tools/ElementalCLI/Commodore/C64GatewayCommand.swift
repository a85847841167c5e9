import ArgumentParser
import CommodoreGateway
import Elemental
import ElementalFollowing
import PETSCII
import SignalR
import Support

struct C64GatewayCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Take the place of a Commodore's modem and publish the machine as a service.",
        discussion: """
            Any client can set and read the machine's elements (colours, text, sound, a sprite, joysticks, typed lines) \
            and take part in the conversation of the public chat program, which runs unmodified. While the machine is \
            away the service stays published, with its element 'present' false; a line that was lost is opened again.
            With --virtual the machine is part of this process: clients see its 'screen', type with 'keys' and move its \
            joysticks; lines of standard input are typed as well.

              $ elemental c64 gateway --serial /dev/ttyUSB0 --baud 1200 --name Den
              $ elemental c64 gateway --pty --link /tmp/c64
              $ elemental c64 gateway --listen 127.0.0.1:25232 --ip232
              $ elemental c64 gateway --listen 127.0.0.1:25232 --acia
              $ elemental c64 gateway --virtual program.prg --png screen.png
              $ elemental c64 gateway --pty \\
                  --map ws://192.168.86.250:5000/chat=ws://127.0.0.1:5000/chat
              $ elemental describe commodore
              $ elemental set commodore border=blue 'print=Hello'
              $ elemental watch commodore line joystick2
              $ elemental set commodore 'keys=hello'
              $ elemental get commodore screen --raw > c64.png

            VICE connects to it: x64sc -userportdevice 2 -rsuserdev 0 -rsuserbaud 1200 -rsdev1 127.0.0.1:25232 +rsdev1ip232 \
            (with --ip232 here: -rsdev1ip232); with --acia: x64sc -acia1 -acia1mode 1 -myaciadev 0 -rsdev1 127.0.0.1:25232. \
            A real machine's user port works with 5 volts, a PC's serial port with 12: use an adapter with TTL levels.
            """)

    @OptionGroup var line: LineOptions

    @Option(help: ArgumentHelp("The service's name.", valueName: "service"))
    var service = "commodore"

    @OptionGroup var hosting: HostingOptions

    @Flag(
        help: ArgumentHelp(
            "Let clients read and write the machine's memory.",
            discussion: "Writing memory is enough to make the machine do anything."))
    var allowMemory = false

    @Option(
        help: ArgumentHelp(
            "Bytes a second for programs that read one byte per frame: 50 for PAL and NTSC, 60 for NTSC only.",
            valueName: "bytes"))
    var pace = 50.0

    @Option(
        help: ArgumentHelp(
            "Bytes a second for native programs, which read several bytes per frame; a slower line sets the pace itself.",
            valueName: "bytes"))
    var nativePace = 200.0

    @Flag(help: "Native programs show text in upper case and graphics instead of lower and upper case.")
    var graphics = false

    @OptionGroup var pictures: PictureOptions

    @Option(
        name: .customLong("map"),
        help: ArgumentHelp(
            "Connect programs that ask for ADDRESS to the SignalR hub at URL; may be given several times.",
            discussion: "At any other ws:// or wss:// address the gateway itself answers as a hub, for the chat only.",
            valueName: "address=url"))
    // Parsed in `validate`: the parser repeats a value that it rejects, and a URL may contain a password.
    var mappings: [String] = []

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard line.virtual != nil || !pictures.areWanted else {
            throw ValidationError("--png and --svg need --virtual: the screen of another machine is not known here")
        }
        try hosting.service.check(service: service)
        for (option, rate) in [("--pace", pace), ("--native-pace", nativePace)] where !(1...10_000 ~= rate) {
            throw ValidationError("\(option) takes 1 to 10000 bytes a second, not \(rate)")
        }
        _ = try hubs
    }

    /// The hubs' URLs by the addresses that programs ask for.
    private var hubs: [String: String] {
        get throws { Dictionary(try checked("--map: ") { try mappings.map(Self.hub(parsing:)) }) { $1 } }
    }

    /// Parses `ADDRESS=URL`. The address ends at the first `=` that a hub's URL follows.
    private static func hub(parsing text: String) throws -> (address: String, url: String) {
        let schemes = ["ws://", "wss://", "http://", "https://"]
        let sign = text.indices.first { index in
            text[index] == "=" && schemes.contains { text[text.index(after: index)...].hasPrefix($0) }
        }
        guard let sign else {
            throw ValidationError(
                "write it as ADDRESS=URL, as in ws://192.168.86.250:5000/chat=ws://127.0.0.1:5000/chat")
        }
        let (address, url) = (String(text[..<sign]), String(text[text.index(after: sign)...]))
        guard ProgramAddress.isHub(address) else {
            throw ValidationError(
                "ADDRESS is the address that a program requests: ws:// or wss://, a host, optionally a port, and a path"
            )
        }
        do {
            try HubConnection.check(url: url)
        } catch {
            throw ValidationError("\(error.message); write it as ADDRESS=URL")
        }
        return (address, url)
    }

    func perform(_ console: Console) async throws {
        var configuration = GatewayConfiguration()
        configuration.baud = line.baud
        configuration.usesFlowControl = line.acia
        configuration.bytesPerSecond = pace
        configuration.fastBytesPerSecond = nativePace
        configuration.allowsMemory = allowMemory
        configuration.characterSet = graphics ? .graphics : .lowerCase
        configuration.hubs = try hubs
        let security = try await hosting.apply(to: &configuration.service, of: service, output, console)
        // None of a Commodore's elements uses UDP.
        configuration.service.allowsUDP = false
        let gateway = CommodoreGateway(
            line: try await line.line(timeout: output.limit), service: service, displayName: hosting.service.name,
            configuration: configuration)
        let events = PendingEvents<(GatewayEvent, time: Double)>(console) { event, time in
            await console.report(event, at: time, of: gateway.service)
        }
        gateway.onEvent { events.add(($0, time: WallClock.seconds)) }
        await Interruption.trap()
        let end = try await withCleanup {
            try await gateway.openLine()
            let isVirtual = line.virtual != nil
            try await ServiceHost(gateway.service, security, console, relaysValues: false).run {
                if isVirtual, let machine = gateway.virtualMachine { await Self.type(on: machine, console) }
                try await Interruption.forever()
            }
            return try await gateway.virtualMachine?.with { ($0.picture(), .screen(of: $0) as Notice) }
        } cleanup: {
            await gateway.closeLine()
            await events.finish()
        }
        if let (picture, report) = end {
            await console.emit(report)
            try pictures.save(picture)
        }
    }

    /// Types the lines of standard input on the virtual machine's keyboard.
    private static func type(on machine: VirtualMachine, _ console: Console) async {
        let input = InputLines(limit: InputLines.longestCommand)
        while let line = await input.next() {
            switch line {
            case .success(let text):
                // Types in pieces that fit the machine's buffer: a character that is replaced takes several keys.
                var rest = Substring(text + "\n")
                while !rest.isEmpty, !Task.isCancelled {
                    do {
                        try machine.type(String(rest.prefix(pieceLength)), replacingOthers: true)
                        rest = rest.dropFirst(pieceLength)
                    } catch {
                        // The machine takes 50 or 60 keys a second, and none until its program runs, so this waits.
                        await Delay.wait(.milliseconds(100))
                    }
                }
            case .failure(let failure): await console.talk("ignored: \(failure)")
            }
        }
    }

    private static let pieceLength = 64
}

extension Console {
    fileprivate func report(_ event: GatewayEvent, at time: Double, of service: ElementalService) async {
        switch event {
        case .line(let event): await emit(.line(event))
        case .programConnected(let name): await emit(.program(name, isConnected: true))
        case .programDisconnected(let name): await emit(.program(name, isConnected: false))
        case .told(let element, let value):
            // The clock changes all the time; `watch` shows it.
            guard element.id != CommodoreElements.jiffies.id else { return }
            await emit(
                ValueEvent(
                    arrived: ArrivedValue(element, value, time: time),
                    key: ServiceKey(service: service.service, name: service.displayName)))
        case .refused(let element, let device, let reason):
            await talk("'\(element.name)' from \(device) is not passed to the machine: \(reason)")
        }
    }
}
