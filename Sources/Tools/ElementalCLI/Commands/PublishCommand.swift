import ArgumentParser
import Elemental

/// Publishes a service whose elements are set from standard input.
struct PublishCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a service; lines NAME=VALUE on standard input set its elements.",
        discussion: """
            A line NAME=VALUE on standard input sets an element and sends it to every device. A value that a device sends is \
            printed, becomes the element's value and is sent to all devices, including the sender, unless the element is \
            write-only. A device that connects later gets the current values at once. The service ends at the end of the \
            input, on Ctrl-C and on SIGTERM; it is then withdrawn, and the devices are told.

            An element is ID:NAME:TYPE[:OPTION…][=INITIAL]: ID is 0 to 127, the same at both ends; TYPE is int8 … \
            uint64, float, double, string, data, bool, float2, float3, float4 or float4x4. INITIAL is its first value, \
            where @FILE reads a string or data from a file. The options, in any order:

              LOW...HIGH    the values allowed: 0...1
              step N        the step in which a control should move
              unit U        the unit: unit m/s
              choices A,B…  the values allowed, by name: texts, or numbers with names as in choices 0 off,1 on
              udp           values travel in datagrams
              latest        only the newest unsent value is kept
              ro, wo        read-only, write-only for clients
              readers ROLE  the least role that reads it: plain (the default), observe, control or admin
              writers ROLE  the least role that sets it; control by default. An open service ignores both

              $ elemental publish robot --element 1:Speed:float=0 --element 2:Arm:float3:udp
              $ while sleep 1; do echo "Load=$(cut -d' ' -f1 /proc/loadavg)"; done |
                    elemental publish machine --element 1:Load:double:ro
              $ elemental publish lamp --element 1:Light:bool=off --stay < /dev/null &
              $ elemental publish heater --element '1:Mode:uint8:choices off,heat,cool:ro=off'
            """)

    @Argument(help: "The service's name, 2 to 15 letters, digits, hyphens and underscores, such as robot.")
    var service: String

    @Option(
        name: .customLong("element"),
        help: ArgumentHelp(
            "An element; give one or more.", discussion: ElementSpec.form, valueName: "spec"),
        transform: ElementSpec.init(parsing:))
    var specs: [ElementSpec]

    @OptionGroup var hosting: ServiceOptions
    @OptionGroup var listening: ListenOptions
    @OptionGroup var admission: ServiceSecurityOptions

    @Flag(name: .customLong("no-udp"), help: "Do not receive or send datagrams.")
    var noUDP = false

    @Option(
        help: ArgumentHelp(
            "An entry of the TXT record, which browsers show; may be given several times.", valueName: "key=value"))
    var txt: [String] = []

    @Flag(help: "Keep running after the end of the input, until Ctrl-C or SIGTERM.")
    var stay = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        for entry in txt where entry.first == "=" || !entry.contains("=") {
            throw ValidationError("--txt takes KEY=VALUE, not '\(entry.excerpt)'")
        }
        try hosting.check(service: service, txt: txtEntries)
        do {
            _ = try ElementCatalogue(specs.map(\.definition))
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// The TXT record's entries. If a key is given twice, the last value counts.
    private var txtEntries: [String: String] {
        let pairs = txt.map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
        return Dictionary(pairs.map { (String($0[0]), String($0[1])) }) { $1 }
    }

    func perform(_ console: Console) async throws {
        var configuration = ServiceConfiguration()
        hosting.apply(to: &configuration, output)
        listening.apply(to: &configuration)
        configuration.allowsUDP = !noUDP
        configuration.txt = txtEntries
        let security = try await admission.prepare(service, listeningOn: listening.address, console)
        configuration.security = security.configuration
        let service = ElementalService(
            service, displayName: hosting.name, elements: try ElementCatalogue(specs.map(\.definition)),
            configuration: configuration)
        for spec in specs {
            guard let initial = spec.initial else { continue }
            try service.send(
                try await Assignment.value(initial, of: spec.definition, readingFilesFor: output.limit),
                to: spec.definition)
        }
        let host = ServiceHost(service, security, console, relaysValues: true)
        try await host.run {
            let input = InputLines()
            var backlog = Backlog()
            while let line = await input.next() { await set(line, service, &backlog, console) }
            if stay { try await Interruption.forever() }
        }
    }

    /// Sets the element of a line of input. A line that is not valid is reported and skipped.
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
