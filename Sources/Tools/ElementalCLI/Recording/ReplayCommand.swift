import ArgumentParser
import Elemental
import ElementalFollowing
import ElementalRecording
import ElementalWire
import Support

struct ReplayCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay a recording: publish its services again, or send its values to a service.",
        discussion: """
            With --publish each service of the file is published again, with the same elements, units, ranges and \
            transports, and its values come in their own time. Clients may set its elements as those of 'elemental \
            publish'. It ends with the file, on Ctrl-C and on SIGTERM.

            With --to the values go to a service, to its elements of the same names and types. An element that \
            is read-only there is left out, and so are values outside a range. Each element is reported once.

            Every value is due at its own time from the beginning, so that an hour takes an hour. With --loop it begins \
            again after the last value without a pause. Other MCAP files are replayed as well if their messages are JSON \
            and they are not compressed.

              $ elemental replay robot.mcap --publish
              $ elemental replay robot.mcap --publish --speed 10 --start 3600
              $ elemental replay show.mcap --to lamp --loop
            """)

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("How many times as fast as it was recorded.", valueName: "factor"))
    var speed = 1.0

    @Flag(name: .customLong("loop"), help: "Begin again after the last value, until Ctrl-C.")
    var loops = false

    @Option(help: ArgumentHelp("Begin at that time of the recording.", valueName: "seconds"))
    var start = 0.0

    @Flag(help: "Publish the services of the recording.")
    var publish = false

    @Option(
        help: ArgumentHelp(
            "Send the values to this service: SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.", valueName: "target"),
        transform: Target.init(parsing:))
    var to: Target?

    @OptionGroup var hosting: HostingOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0.001...1_000_000).contains(speed) else {
            throw ValidationError("--speed takes 0.001 to 1000000, not \(speed)")
        }
        guard (0..<1e9).contains(start) else { throw ValidationError("--start takes seconds from 0, not \(start)") }
        guard publish == (to == nil) else {
            throw ValidationError(publish ? "give --publish or --to, not both" : "give --publish or --to TARGET")
        }
        guard to != nil else { return }
        if hosting.service.port != 0 || hosting.address != nil || hosting.unlisted {
            throw ValidationError("--port, --address and --unlisted need --publish")
        }
        if hosting.admission.security == .pairedToControl {
            throw ValidationError("--security paired-to-control needs --publish; with --to give open or paired")
        }
        try ClientName.check(hosting.service.name)
    }

    private var replay: Replay {
        var replay = Replay()
        replay.speed = speed
        replay.loops = loops
        replay.start = .seconds(start)
        return replay
    }

    func perform(_ console: Console) async throws {
        if let to {
            try await Interruption.run(console, loops ? .endless : .task) { [self] in try await send(to, console) }
        } else {
            // The file is opened first. From then on the service's host handles interruptions.
            await Interruption.trap()
            try await publish(try await openFile(), console)
        }
    }

    private func openFile() async throws -> Recording {
        let recording = try await Recording(path: file)
        guard !recording.services.isEmpty else {
            throw CommandFailure("nothingToReplay", "\(file.excerpt) has no values that can be replayed")
        }
        return recording
    }

    private func publish(_ recording: Recording, _ console: Console) async throws {
        guard recording.services.count == 1 || (hosting.service.name == nil && hosting.service.port == 0) else {
            throw CommandFailure(
                "usage", "\(file.excerpt) has \(recording.services.count) services: leave out --name and --port")
        }
        var services: [(service: ElementalService, host: ServiceHost)] = []
        for recorded in recording.services {
            let name = recorded.service ?? "recording"
            var configuration = ServiceConfiguration()
            let security = try await hosting.apply(to: &configuration, of: name, output, console)
            let service = recorded.makeService(name: hosting.service.name, configuration: configuration)
            try service.checkNames()
            if recorded.service == nil {
                await console.talk(
                    "\(recorded.instance) is published as a service 'recording': the file does not name its service")
            }
            services.append((service, ServiceHost(service, security, console, relaysValues: true)))
        }
        let (report, losses) = (ReplayReport(console: console), RecordingLosses())
        try await run(services.map(\.host)[...]) { [services, replay, speed] in
            await console.emit(.replaying(recording, speed: speed))
            try await replay.run(recording, on: services.map(\.service), losses: losses) { value, error in
                guard let error else { return report.noteSent() }
                report.noteRefused(value.element.name, CommandFailure(error))
            }
        }
        await report.end(file)
        try losses.check(file)
    }

    /// Runs all hosts, and `body` while they run.
    private func run(
        _ hosts: ArraySlice<ServiceHost>, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let first = hosts.first else { return try await body() }
        try await first.run { try await run(hosts.dropFirst(), body) }
    }

    private func send(_ target: Target, _ console: Console) async throws {
        let recording = try await openFile()
        var security = ClientSecurityOptions()
        security.policy = hosting.admission.security.map { $0 == .open ? .open : .paired }
        (security.role, security.state) = (nil, hosting.admission.state)
        var settings = Client.Settings(name: hosting.service.name ?? ClientName.standard)
        settings.access = try await security.load()
        settings.limits = hosting.service.limits
        settings.showsIncoming = false
        let target = try await target.followingAlias(for: settings.access)
        let place = try await ServicePlace.find(target, for: settings.access, output)
        try await Client.with(place, settings, output, console) { client in
            let device = client.device
            let source = try source(of: recording, for: client)
            let (report, losses) = (ReplayReport(console: console), RecordingLosses())
            let registration = device.onRefusal { element, refusal, _ in
                report.noteRefused(element.name, CommandFailure(refusal), wasSent: true)
            }
            defer { registration.cancel() }
            await console.emit(.replaying(recording, speed: speed))
            try await withCleanup {
                let result = await withThrowingTaskGroup(of: Void.self) { [replay] group in
                    group.addTask {
                        try await replay.run(recording, losses: losses) { item in
                            guard case .value(let value) = item.content, value.service == source else { return }
                            try await send(value, by: client, report)
                        }
                    }
                    group.addTask { _ = try? await device.waitUntilDisconnected() }
                    defer { group.cancelAll() }
                    return await group.nextResult()
                }
                if let reason = device.disconnectReason { throw Client.ended(device, reason) }
                try result?.get()
                try Task.checkCancellation()
                try await device.waitUntilSent()
                // Refusals arrive before the answer to this.
                try await device.waitUntilHandled(timeout: output.limit)
            } cleanup: {
                await report.end(file)
            }
            if report.sent == 0 {
                throw CommandFailure("nothingToReplay", "\(device.name) accepted no value of \(file.excerpt)")
            }
            try losses.check(file)
        }
    }

    /// Sends a value to the element of its name, if there is one that takes it.
    private func send(_ recorded: RecordedValue, by client: Client, _ report: ReplayReport) async throws {
        let name = recorded.element.name
        guard let element = client.elements[name] else {
            return report.noteRefused(
                name, CommandFailure("unknownElement", "\(client.device.name) has no such element"))
        }
        guard element.type == recorded.value.type else {
            return report.noteRefused(
                name,
                CommandFailure(
                    "wrongType",
                    "it is \(element.type) at \(client.device.name), and \(recorded.value.type) in the file"))
        }
        do throws(ElementalError) {
            try await client.device.waitForRoom(for: recorded.value.wireByteCount)
            try client.device.send(recorded.value, to: element)
            report.noteSent()
        } catch {
            if error.code == .cancelled || error.code == .notConnected { throw error }
            report.noteRefused(name, CommandFailure(error))
        }
    }

    /// The service of the recording whose values are sent: the only one, or the only one with the target's service name.
    private func source(of recording: Recording, for client: Client) throws -> Int {
        let (services, wanted) = (recording.services, client.device.service)
        let same = services.indices.filter { index in
            wanted.map { services[index].service?.isSameName(as: $0) == true } ?? false
        }
        if let only = services.count == 1 ? 0 : same.count == 1 ? same.first : nil { return only }
        throw CommandFailure(
            "ambiguous",
            "\(file.excerpt) has \(services.count) services, and it is not clear which to send to "
                + "\(client.device.name); record one to a file of its own")
    }
}
