import ArgumentParser
import Elemental
import SerialGateway
import Support

struct SerialCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serial",
        abstract: "Publish microcontrollers on serial lines as services.",
        discussion: """
            A board that is programmed with ElementalMicro announces its name and its elements. Each becomes a service \
            under its own name, which comes and goes with its cable; a board that is reset keeps its clients. A line may be \
            missing at first, and is opened again after it was lost.

            Values that clients set go to the board, which answers with its new value or a refusal. A board begins with \
            its own values after a reset, so that no motor starts by itself; with --restore it receives the newest values \
            that clients set.

            A board keeps no past values. With --keep this program does: each value is stamped when it arrives on the \
            line and kept in files in the directory of --state, for clients that request it later (watch --since). \
            A board that is reset or plugged in again goes on with the same values, and so does this program when it is \
            started again. The folder has the names of service and board, as in 'elemental history clear oven-Kitchen'.

              $ elemental serial --list
              $ elemental serial --serial /dev/serial/by-id/usb-Pico_E6614-if00
              $ elemental serial --serial /dev/ttyUSB0 --serial /dev/ttyACM0 --baud 115200
              $ elemental serial --dial 127.0.0.1:5555 --service thermostat \\
                  --name Kitchen --restore
              $ elemental serial --serial /dev/ttyACM0 --keep '24h 4MB'
              $ elemental describe thermostat
            """)

    @OptionGroup var lines: SerialLineOptions

    @Flag(help: "List the serial devices of this machine, and end.")
    var list = false

    @Option(
        help: ArgumentHelp("The services' name (default: the name that each board announces).", valueName: "service"))
    var service: String?

    @Flag(help: "Send a board that was away the newest values that clients set.")
    var restore = false

    @Option(
        help: ArgumentHelp(
            "Keep values for clients that request them later, up to a time, a number or a size for each element: "
                + "24h, or '7d 1000 4MB'.",
            valueName: "limits"),
        transform: {
            guard !$0[...].withoutBlanks.isEmpty else { throw ValidationError("give a limit, such as 24h") }
            return try ElementSpecOptions.history($0[...], in: $0[...])
        })
    var keep: HistoryLimits?

    @OptionGroup var history: HistoryOptions
    @OptionGroup var hosting: HostingOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let count = lines.lines.count
        if list {
            guard count == 0 else { throw ValidationError("--list takes no lines; leave them out") }
            return
        }
        guard count > 0 else {
            throw ValidationError(
                "give one or more of --serial DEVICE, --pty, --listen HOST:PORT, --dial HOST:PORT; --list shows devices"
            )
        }
        guard keep != nil || history.place == nil && history.interval == nil else {
            throw ValidationError("--history and --history-sync need --keep LIMITS")
        }
        guard count == 1 || hosting.service.name == nil else {
            throw ValidationError("--name needs exactly one line, not \(count)")
        }
        guard count == 1 || hosting.service.port == 0 else {
            throw ValidationError("--port needs exactly one line, not \(count)")
        }
        try hosting.service.check(service: service ?? "serial")
    }

    func perform(_ console: Console) async throws {
        guard !list else { return try await listDevices(console) }
        var configuration = SerialGatewayConfiguration()
        configuration.serviceName = service
        configuration.displayName = hosting.service.name
        configuration.restores = restore
        configuration.histories = keep.map { history.devices($0, hosting.admission.state) }
        let security = try await hosting.apply(
            to: &configuration.service, of: service ?? "what is on the line", output, console)
        await Interruption.trap()
        try await Interruption.run(console) { [lines, configuration] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for line in lines.lines {
                    group.addTask { try await Self.run(line, configuration, security, console) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func listDevices(_ console: Console) async throws {
        let candidates = try await Blocking.run { SerialCandidate.all() }
        for candidate in candidates { await console.emit(.serialDevice(candidate)) }
        if candidates.isEmpty {
            await console.talk("there are no serial devices under \(SerialCandidate.directory); is a board plugged in?")
        }
    }

    private static func run(
        _ line: SerialLine, _ configuration: SerialGatewayConfiguration, _ security: HostSecurity, _ console: Console
    ) async throws {
        let gateway = SerialGateway(line: line, configuration: configuration)
        let name = Locked("")
        let events = PendingEvents<SerialGatewayEvent>(console) { event in
            if case .line(.ready(let line)) = event { name.withLock { $0 = line } }
            await console.emit(.serial(event, on: name.withLock { $0 }))
        }
        gateway.onEvent { events.add($0) }
        try await withCleanup {
            try await gateway.run { service in
                let host = ServiceHost(
                    service, try await security.inviting(to: service.service), console, relaysValues: false)
                // The host ends by itself, so that it can withdraw the service in a task that is not cancelled.
                let gone = Latch()
                try await withTaskCancellationHandler {
                    try await Task { try await host.run { await gone.wait() } }.value
                } onCancel: {
                    gone.open()
                }
            }
        } cleanup: {
            await events.finish()
        }
    }
}

/// A serial device to which a board may be connected.
struct SerialCandidate: Hashable {
    /// The folder of udev's links to serial devices. The name of a link stays the same at every port.
    static let directory = "/dev/serial/by-id"

    /// The path of the link, for `--serial`.
    let path: String
    /// The device, whose name depends on the port.
    let device: String
    let isUsable: Bool

    /// Lists the devices. May block.
    static func all(in directory: String = directory) -> [SerialCandidate] {
        FileContent.names(in: directory).sorted().map { name in
            let path = directory + "/" + name
            return SerialCandidate(
                path: path, device: resolved(path) ?? path, isUsable: access(path, R_OK | W_OK) == 0)
        }
    }

    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
