import ArgumentParser
import CommodoreGateway
import Elemental
import PETSCII

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Publishes the Commodore behind a line as a service.
struct C64GatewayCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Stand in the place of a Commodore's modem and publish the machine as a service.",
        discussion: """
            The machine's elements (colours, text, sound, a sprite, joysticks, lines that are typed) can be set and read \
            by any client, and so can what is said in the public chat program, which runs unmodified. While the machine \
            is away the service stays, its element 'present' being false; a line that was lost is opened again.

              $ elemental c64 gateway --serial /dev/ttyUSB0 --baud 1200 --name Den
              $ elemental c64 gateway --pty --link /tmp/c64
              $ elemental c64 gateway --listen 127.0.0.1:25232 --ip232
              $ elemental c64 gateway --virtual program.prg --png screen.png
              $ elemental c64 gateway --pty --map ws://192.168.86.250:5000/chat=ws://127.0.0.1:5000/chat
              $ elemental describe commodore
              $ elemental set commodore border=6 'print=Hello'
              $ elemental watch commodore line joystick2

            VICE dials it: x64sc -userportdevice 2 -rsuserdev 0 -rsuserbaud 1200 -rsdev1 127.0.0.1:25232 +rsdev1ip232 \
            (with --ip232 here: -rsdev1ip232). A real machine's user port has 5 volts, a PC's serial port 12: use an \
            adapter with TTL levels.
            """)

    @OptionGroup var line: LineOptions

    @Option(help: ArgumentHelp("The service's name.", valueName: "service"))
    var service = "commodore"

    @Option(help: "The instance's name that people see (default: the host's name).")
    var name: String?

    @Option(help: "The service's TCP port; 0 lets the system choose.")
    var port = 0

    @Option(help: ArgumentHelp("The local address to listen on for clients (default: all).", valueName: "address"))
    var address: String?

    @Flag(help: "Only listen; do not publish by Zeroconf.")
    var unlisted = false

    @Flag(
        help: ArgumentHelp(
            "Let clients read and write the machine's memory.",
            discussion: "Whoever may write memory can make the machine do anything."))
    var allowMemory = false

    @Option(
        help: ArgumentHelp(
            "Bytes a second for programs that read one byte a frame: 50 suits PAL and NTSC, 60 NTSC alone.",
            valueName: "bytes"))
    var pace = 50.0

    @Option(
        help: ArgumentHelp(
            "Bytes a second that native programs read at least; up to it the line's speed is theirs.",
            valueName: "bytes"))
    var nativePace = 200.0

    @Flag(help: "Native programs show text in capitals and graphics instead of small and capital letters.")
    var graphics = false

    @OptionGroup var pictures: PictureOptions

    @Option(
        name: .customLong("map"),
        help: ArgumentHelp(
            "Connect programs that ask for ADDRESS to the SignalR hub at URL; may be given several times.",
            discussion: "To any other ws:// or wss:// address the gateway itself is the hub, of the chat alone.",
            valueName: "address=url"))
    // Read in `validate`: the parser repeats a value that it refuses, and a URL may have a password in it.
    var mappings: [String] = []

    @OptionGroup var limits: LimitOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard line.virtual != nil || !pictures.areWanted else {
            throw ValidationError("--png and --svg go with --virtual: only that machine's screen is known here")
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        try Publishing.check(service: service, name: name, address: address)
        for (option, rate) in [("--pace", pace), ("--native-pace", nativePace)] where !(1...10_000 ~= rate) {
            throw ValidationError("\(option) takes 1 to 10000 bytes a second, not \(rate)")
        }
        _ = try hubs
    }

    /// The URLs of hubs by the addresses that programs ask for.
    private var hubs: [String: String] {
        get throws {
            do {
                let mappings = try mappings.map(HubMapping.init(parsing:))
                return Dictionary(mappings.map { ($0.address, $0.url) }) { $1 }
            } catch {
                throw ValidationError("--map: \(error)")
            }
        }
    }

    func perform(_ console: Console) async throws {
        var configuration = GatewayConfiguration()
        configuration.baud = line.baud
        configuration.bytesPerSecond = pace
        configuration.fastBytesPerSecond = nativePace
        configuration.allowsMemory = allowMemory
        configuration.characterSet = graphics ? .graphics : .lowerCase
        configuration.hubs = try hubs
        configuration.service.port = port
        configuration.service.address = address
        configuration.service.isPublished = !unlisted
        // No element of a Commodore travels in datagrams.
        configuration.service.allowsUDP = false
        configuration.service.limits = limits.device
        configuration.service.limits.handshakeTimeout = output.limit
        configuration.service.logger = output.logger
        let gateway = CommodoreGateway(
            line: try await line.line(timeout: output.limit), service: service, displayName: name,
            configuration: configuration)
        let (events, event) = AsyncStream.makeStream(of: TimedEvent.self, bufferingPolicy: .bufferingNewest(65536))
        gateway.onEvent { event.yield(TimedEvent($0)) }
        let telling = Task {
            for await event in events { await console.emit(event) }
        }
        await Interruption.trap()
        do {
            try await gateway.openLine()
            let isVirtual = line.virtual != nil
            try await ServiceHost(gateway.service, console, passesValuesOn: false).run {
                if isVirtual { try await Self.type(on: gateway, console) }
                try await Interruption.forever()
            }
        } catch {
            await gateway.closeLine()
            event.finish()
            await telling.value
            throw error
        }
        let end = try await gateway.virtualMachine?.with { ($0.picture(), ScreenReport($0)) }
        await gateway.closeLine()
        event.finish()
        await telling.value
        if let (picture, report) = end {
            await console.emit(.screen(report))
            try pictures.save(picture)
        }
    }

    /// Types the lines of standard input on the virtual machine's keyboard.
    private static func type(on gateway: CommodoreGateway, _ console: Console) async throws {
        let input = InputLines(limit: InputLines.longestCommand)
        while let line = await input.next() {
            switch line {
            case .success(let text): try await gateway.virtualMachine?.with { $0.type(text + "\n") }
            case .failure(let failure): await console.talk("ignored: \(failure)")
            }
            // The machine sees 60 keys a second: a faster writer waits.
            while try await gateway.virtualMachine?.with({ $0.untypedKeyCount }) ?? 0 > InputLines.longestCommand,
                !Task.isCancelled
            {
                await Delay.wait(.milliseconds(100))
            }
        }
    }
}

/// What happened to a gateway, and when.
private struct TimedEvent: Sendable {
    let event: GatewayEvent
    let time = Date()

    init(_ event: GatewayEvent) { self.event = event }
}

extension Console {
    /// Tells what happens to a gateway; what the machine does often is left to `watch`.
    fileprivate func emit(_ timed: TimedEvent) async {
        switch timed.event {
        case .lineReady(let name): await emit(.line(name, state: "ready", reason: nil, retryIn: nil))
        case .lineOpened: await emit(.line(nil, state: "open", reason: nil, retryIn: nil))
        case .lineLost(let reason, let delay): await emit(.line(nil, state: "lost", reason: reason, retryIn: delay))
        case .programConnected(let name): await emit(.program(name, isConnected: true))
        case .programDisconnected(let name): await emit(.program(name, isConnected: false))
        case .told(let element, let value):
            guard element.id != CommodoreElements.jiffies.id else { return }
            await emit(.value(ArrivedValue(element, value, time: timed.time), device: "commodore"))
        case .refused(let element, let device, let reason):
            await talk("'\(element.name)' from \(device) does not go to the machine: \(reason)")
        }
    }
}
