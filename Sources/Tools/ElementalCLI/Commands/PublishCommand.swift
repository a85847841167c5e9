import ArgumentParser
import Elemental

/// Publishes a service whose elements are driven from standard input.
struct PublishCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a service; lines NAME=VALUE on standard input set its elements.",
        discussion: """
            A line NAME=VALUE on standard input sets an element and sends it to every device. What a device sends is \
            printed, becomes the element's value and goes to all devices, the sender included, unless the element is \
            write-only. A device that connects later gets the values at once. It ends with the input, on Ctrl-C and on \
            SIGTERM; the service is withdrawn and the devices are told.

            An element is ID:NAME:TYPE[:udp][:latest][:rw|:ro|:wo][=INITIAL]: ID is 0 to 127, the same at both ends; \
            TYPE is int8 … uint64, float, double, string, data, bool, float2, float3, float4 or float4x4; udp sends it \
            in datagrams; latest keeps only the newest unsent value; ro, wo: clients only read, only write it. INITIAL \
            is its first value; @FILE there reads a string or data from a file.

              $ elemental publish robot --element 1:Speed:float=0 --element 2:Arm:float3:udp
              $ while sleep 1; do echo "Load=$(cut -d' ' -f1 /proc/loadavg)"; done |
                    elemental publish machine --element 1:Load:double:ro
              $ elemental publish lamp --element 1:Light:bool=off --stay < /dev/null &
            """)

    @Argument(help: "The service's name, 2 to 15 letters, digits, hyphens and underscores, such as robot.")
    var service: String

    @Option(
        name: .customLong("element"),
        help: ArgumentHelp(
            "An element; give one or more.", discussion: ElementSpec.form, valueName: "spec"),
        transform: ElementSpec.init(parsing:))
    var specs: [ElementSpec]

    @Option(help: "The instance's name that people see (default: the host's name).")
    var name: String?

    @Option(help: "The port, TCP and UDP; 0 lets the system choose.")
    var port = 0

    @Option(help: ArgumentHelp("The local address to listen on (default: all).", valueName: "address"))
    var address: String?

    @Flag(name: .customLong("no-udp"), help: "Take and send no datagrams.")
    var noUDP = false

    @Option(
        help: ArgumentHelp("What browsers show of the service; may be given several times.", valueName: "key=value"))
    var txt: [String] = []

    @Flag(help: "Only listen; do not publish by Zeroconf.")
    var unlisted = false

    @Flag(help: "Go on serving after the end of input, until Ctrl-C or SIGTERM.")
    var stay = false

    @OptionGroup var limits: LimitOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        for entry in txt where entry.first == "=" || !entry.contains("=") {
            throw ValidationError("--txt takes KEY=VALUE, not '\(entry.excerpt)'")
        }
        try Publishing.check(service: service, name: name, address: address, txt: txtEntries)
        do {
            _ = try ElementCatalogue(specs.map(\.definition))
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// What browsers show, by key; of a key given twice the last value counts.
    private var txtEntries: [String: String] {
        let pairs = txt.map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
        return Dictionary(pairs.map { (String($0[0]), String($0[1])) }) { $1 }
    }

    func perform(_ console: Console) async throws {
        var configuration = ServiceConfiguration()
        configuration.port = port
        configuration.address = address
        configuration.allowsUDP = !noUDP
        configuration.isPublished = !unlisted
        configuration.limits = limits.device
        configuration.limits.handshakeTimeout = output.limit
        configuration.logger = output.logger
        configuration.txt = txtEntries
        let service = ElementalService(
            service, displayName: name, elements: try ElementCatalogue(specs.map(\.definition)),
            configuration: configuration)
        for spec in specs {
            guard let initial = spec.initial else { continue }
            try service.send(
                try await Assignment.value(initial, of: spec.definition, readingFilesFor: output.limit),
                to: spec.definition)
        }
        let host = ServiceHost(service, console, passesValuesOn: true)
        try await host.run {
            let input = InputLines()
            var backlog = Backlog()
            while let line = await input.next() { await set(line, service, &backlog, console) }
            if stay { try await Interruption.forever() }
        }
    }

    /// Takes a line of input. A bad one is told and is no reason to end.
    private func set(
        _ line: InputLines.Line, _ service: ElementalService, _ backlog: inout Backlog, _ console: Console
    ) async {
        do {
            let line = try line.get()
            guard line.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else { return }
            let assignment = try Assignment(
                parsing: line, among: service.elements, of: "service '\(service.service)'")
            await backlog.report(try service.send(assignment.value, to: assignment.element), console)
        } catch {
            await console.talk("ignored: \(CommandFailure(error).description)")
        }
    }
}
