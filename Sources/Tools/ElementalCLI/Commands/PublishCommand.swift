import ArgumentParser
import Elemental
import Support

struct PublishCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a service; lines NAME=VALUE on standard input set its elements.",
        discussion: """
            A line NAME=VALUE on standard input sets an element and sends it to every device. A value that a device sends is \
            printed, becomes the element's value and is sent to all devices, including the sender, unless the element is \
            write-only. A device that connects later gets the current values at once. The service ends at the end of the \
            input, on Ctrl-C and on SIGTERM; it is then withdrawn, and the devices are notified.

            An element is ID:NAME:TYPE[:OPTION…][=INITIAL]: ID is 0 to 127, the same at both ends; TYPE is int8 … \
            uint64, float, double, string, data, bool, float2, float3, float4 or float4x4. INITIAL is its first value, \
            where @FILE reads a string or data from a file. The options, in any order:

              LOW...HIGH    the values allowed: 0...1
              step N        the step in which a control should move
              unit U        the unit: unit m/s
              choices A,B…  the values allowed, by name: texts, or numbers with names as in
                            choices 0 off,1 on
              udp           values travel in datagrams
              latest        only the newest unsent value is kept
              ro, wo        read-only, write-only for clients
              timed         values carry the time at which they were measured
              history L     values are kept for clients that request them later, up to
                            a time, a number or a size: history 24h 1000 4MB
              momentary     a push button: a bool that is on while a user holds it
              urgent        an emergency stop: a bool that pages show first and large
              readers ROLE  the minimum role to read it: plain (the default), observe,
                            control or admin
              writers ROLE  the minimum role to set it; control by default. An open
                            service ignores both

              $ elemental publish robot --element 1:Speed:float --element 2:Arm:float3:udp
              $ while sleep 1; do echo "Load=$(cut -d' ' -f1 /proc/loadavg)"; done |
                    elemental publish machine --element 1:Load:double:ro
              $ elemental publish lamp --element 1:Light:bool=off --stay < /dev/null &
              $ elemental publish heater \\
                  --element '1:Mode:uint8:choices off,heat,cool:ro=off'

            With --from FILE the elements are in a file, each in a line of its own, with commands below it, indented, that \
            give its readings or take its values: no program is needed. The file is read again on SIGUSR1, and on SIGHUP \
            where there is no terminal.

              1:Temperature:float:ro:unit °C
                  read 5: awk '{ print $1 / 1000 }' /sys/class/thermal/thermal_zone0/temp
              2:Fan:uint8:0...1=0
                  write: read -r value; fan-control --speed "$value"
              3:Log:string:ro
                  follow: journalctl -f -n 0 -o cat

            'read 5' runs its command every 5 seconds, and the first line that it prints is the value; of 'follow' every \
            line is one; 'write' gets a value as a line on its standard input, and a failure reaches the client; 'sink' keeps \
            running and gets each value as a line. A command that reads or writes for more than 10 seconds is ended.

              $ elemental publish pi --from pi.elements

            Values of elements with a history are kept in files in the directory of --state, which outlast this program: a \
            value is written within a second, and forced onto the disk within ten: a power failure may lose the rest. \
            Only one program at a time can keep the values of a service's name. 'elemental history clear' removes them.

              $ elemental publish weather \\
                  --element '1:Temperature:float:ro:timed:history 24h'
            """)

    @Argument(help: "The service's name, 2 to 15 letters, digits, hyphens and underscores, such as robot.")
    var service: String

    @Option(
        name: .customLong("element"),
        help: ArgumentHelp(
            "An element; give one or more, or --from.", discussion: ElementSpec.form, valueName: "spec"),
        transform: ElementSpec.init(parsing:))
    var specs: [ElementSpec] = []

    @Option(
        help: ArgumentHelp(
            "A file of elements and commands, instead of --element and standard input.", valueName: "file"))
    var from: String?

    @OptionGroup var hosting: HostingOptions

    @Flag(name: .customLong("no-udp"), help: "Do not receive or send datagrams.")
    var noUDP = false

    @Option(
        help: ArgumentHelp(
            "An entry of the TXT record, which browsers show; may be given several times.", valueName: "key=value"))
    var txt: [String] = []

    @OptionGroup var history: HistoryOptions

    @Flag(help: "Keep running after the end of the input, until Ctrl-C or SIGTERM.")
    var stay = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard specs.isEmpty == (from != nil) else {
            throw ValidationError(
                "give one or more --element" + (from == nil ? ", or --from FILE" : " or --from, not both"))
        }
        if from != nil, stay {
            throw ValidationError("--stay needs --element; leave it out: --from does not read standard input")
        }
        for entry in txt where entry.first == "=" || !entry.contains("=") {
            throw ValidationError("--txt takes KEY=VALUE, not '\(entry.excerpt)'")
        }
        try hosting.service.check(service: service, txt: txtEntries)
        _ = try checked { try ElementCatalogue(specs.map(\.definition)) }
    }

    /// The TXT record's entries. If a key is given twice, the last value counts.
    private var txtEntries: [String: String] {
        let pairs = txt.map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
        return Dictionary(pairs.map { (String($0[0]), String($0[1])) }) { $1 }
    }

    func perform(_ console: Console) async throws {
        if let from { return try await perform(from, console) }
        let histories = try await history.open(service, for: specs, hosting.admission.state, console)
        let made = try await makeService(specs, histories, port: hosting.service.port, console)
        try await made.host.run { [stay] in
            let input = InputLines()
            var backlog = Backlog()
            while let line = await input.next() { await set(line, made.service, &backlog, console) }
            if stay { try await Interruption.forever() }
        }
    }

    /// Publishes the elements of a file, and publishes again when the file has other elements.
    private func perform(_ path: String, _ console: Console) async throws {
        let reload = ReloadSignal()
        var script = try await read(path)
        var port = hosting.service.port
        var histories: ServiceHistories?
        while true {
            let specs = script.entries.map(\.spec)
            if histories == nil {
                histories = try await history.open(service, for: specs, hosting.admission.state, console)
            }
            let made = try await makeService(specs, histories, port: port, console)
            let next = Locked<(script: ElementScript, port: Int?)?>(nil)
            let current = script
            try await made.host.run {
                guard let newest = await follow(path, current, made.service, reload, console) else { return }
                next.withLock { $0 = (newest, made.service.port) }
            }
            guard let newest = next.withLock({ $0 }) else { return }
            script = newest.script
            // The port stays the same, so that clients can reconnect.
            port = newest.port ?? port
        }
    }

    /// Runs a file's commands, and the changed ones each time that the file is read again.
    ///
    /// - Returns: the new script when its elements have changed; `nil` if the task was cancelled.
    private func follow(
        _ path: String, _ script: ElementScript, _ service: ElementalService, _ reload: ReloadSignal, _ console: Console
    ) async -> ElementScript? {
        var script = script
        let values = PendingValues(of: service, as: script)
        defer { values.finish() }
        while !Task.isCancelled {
            let current = script
            let newest = Locked<ElementScript?>(nil)
            await Interruption.first {
                await withDiscardingTaskGroup { group in
                    for entry in current.entries {
                        let element = ScriptedElement(
                            element: entry.spec.definition, service: service, values: values, console: console)
                        for command in entry.commands { group.addTask { await element.run(command) } }
                    }
                }
                // Keeps waiting if the file has no commands.
                await Latch().wait()
            } or: {
                for await _ in reload.signals {
                    do {
                        let read = try await read(path)
                        guard read != current else { continue }
                        newest.withLock { $0 = read }
                        return
                    } catch {
                        await console.talk(
                            "the new file is ignored, the old one stays: \(CommandFailure(error).description)")
                    }
                }
            }
            guard let newest = newest.withLock({ $0 }) else { return nil }
            await console.talk("'\(path)' was read again")
            guard newest.hasElements(of: script) else { return newest }
            script = newest
        }
        return nil
    }

    private func read(_ path: String) async throws -> ElementScript {
        let content = try await FileContent.read(path, atMost: 1 << 20, timeout: output.limit)
        guard let text = String(validating: content.withoutByteOrderMark, as: UTF8.self) else {
            throw CommandFailure("invalidFile", "file '\(path.excerpt)' is not UTF-8 text")
        }
        do throws(ValidationError) {
            return try ElementScript(parsing: text)
        } catch {
            throw CommandFailure("invalidFile", "file '\(path.excerpt)': \(error.description)")
        }
    }

    private func makeService(
        _ specs: [ElementSpec], _ histories: ServiceHistories?, port: Int, _ console: Console
    ) async throws -> (service: ElementalService, host: ServiceHost) {
        var configuration = ServiceConfiguration()
        let security = try await hosting.apply(to: &configuration, of: service, output, console)
        configuration.port = port
        configuration.allowsUDP = !noUDP
        configuration.txt = txtEntries
        configuration.histories = histories
        let service = ElementalService(
            service, displayName: hosting.service.name, elements: try ElementCatalogue(specs.map(\.definition)),
            configuration: configuration)
        for spec in specs {
            guard let initial = spec.initial else { continue }
            try service.send(
                try await Assignment.value(initial, of: spec.definition, readingFilesFor: output.limit),
                to: spec.definition)
        }
        return (service, ServiceHost(service, security, console, relaysValues: from == nil))
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

/// Reports once when values cannot be sent to a device, and once when they can be sent again. Otherwise a device that
/// does not read would fill the screen with every value.
struct Backlog {
    private var missed: [ElementalDevice: Int] = [:]

    mutating func report(_ failures: [SendFailure], _ console: Console) async {
        guard !failures.isEmpty || !missed.isEmpty else { return }
        let failing = Set(failures.map(\.device))
        for (device, count) in missed where !failing.contains(device) {
            missed[device] = nil
            if device.isConnected {
                await console.talk("\(device) accepts values again; \(count) were not sent to it")
            }
        }
        for failure in failures {
            let count = missed[failure.device, default: 0]
            missed[failure.device] = count + 1
            if count == 0 { await console.talk("not sent to \(failure.device): \(failure.error)") }
        }
    }
}
