import ArgumentParser
import Bridging
import Elemental
import SignalRBridge

/// Bridges a service and a hub.
struct SignalRBridgeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge",
        abstract:
            "Bridge a service, or all there are, to a hub: values call the hub; with --control its calls set elements.",
        discussion: """
            Each element has a method of its own, for both directions: its name without spaces, unless --map gives it \
            another. Each value of a readable element is a call to the hub. With --control the hub sets a writable element \
            by calling the method on this client with one argument: whoever may do that controls the service. The hub \
            decides which other clients it informs; a hub that leaves out the caller spares the service an echo.

            With --all every service that is found is bridged as long as it is there, each over a connection of its own to \
            the hub; --map then applies wherever an element has that name. A service that returns with other elements is \
            bridged with those.

            A service for paired clients is paired with the bridge, which has an identity of its own: 'elemental pair' with \
            the options that the bridge names.

            Of an element marked latest, the newest value passes at most --rate times a second; the values of other \
            elements queue. Both connections are restored when they are lost, until Ctrl-C.

              $ elemental signalr bridge robot \\
                  --hub https://example.org/robots?name=Rover --token @token.txt
              $ elemental signalr bridge robot --hub http://localhost:5000/chat --control \\
                  --map Speed=SetSpeed --only-mapped
              $ elemental signalr bridge --all --hub http://localhost:5000/house
            """)

    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT; or --all.",
            discussion: "SERVICE alone is enough if the network has only one. An IPv6 address goes in brackets."),
        transform: Target.init(parsing:))
    var target: Target?

    @Flag(help: "Bridge every service that is found, as they come and go.")
    var all = false

    @Option(help: ArgumentHelp("The name of this client (default: elemental@HOST).", valueName: "name"))
    var name: String?

    @OptionGroup var security: ClientSecurityOptions
    @OptionGroup var limits: FollowedLimitOptions

    @Option(
        name: .customLong("hub"),
        help: ArgumentHelp("The hub's address, as in http://localhost:5000/chat.", valueName: "url"))
    var url: String

    @Option(
        name: .customLong("map"),
        help: ArgumentHelp("The method for an element; may be given several times.", valueName: "element=method"),
        transform: ElementMapping.init(parsing:))
    var mappings: [ElementMapping] = []

    @Flag(help: "Skip the elements that --map does not name.")
    var onlyMapped = false

    @Option(
        help: ArgumentHelp(
            "The most values of one element per second in each direction; 0 for no limit.", valueName: "values")
    )
    var rate = 20.0

    @Flag(help: "Let the hub set elements, and ask the service for the role that it takes.")
    var control = false

    @Flag(name: .customLong("print"), help: "Print each value that passes.")
    var prints = false

    @OptionGroup var element: ElementOptions
    @OptionGroup var hub: HubOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (target == nil) == all else {
            throw ValidationError("give a TARGET or --all" + (all ? ", not both" : ""))
        }
        if all, !element.specs.isEmpty {
            throw ValidationError("--element goes with a TARGET: with --all each service tells its own elements")
        }
        try ClientName.check(name)
        try HubOptions.check(url: url, "--hub")
        guard rate == 0 || (0.001...100_000).contains(rate) else {
            throw ValidationError("--rate takes values a second from 0.001 to 100000, or 0 for no limit, not \(rate)")
        }
        if onlyMapped, mappings.isEmpty { throw ValidationError("--only-mapped leaves nothing without a --map") }
    }

    private var options: BridgeOptions {
        var options = BridgeOptions()
        options.methods = Dictionary(mappings.map { ($0.element, $0.method) }) { $1 }
        options.passesMappedOnly = onlyMapped
        options.setsElements = control
        options.interval = rate == 0 ? .zero : .seconds(1 / rate)
        return options
    }

    func perform(_ console: Console) async throws {
        // What the hub may do there is granted to the bridge, not to the user who runs it.
        let deputy = Deputy(name: "signalr-bridge", role: control ? .control : .observe)
        try await Interruption.run(console) { [self] in
            // All are followed for long, and may be paired meanwhile.
            let access = try await security.load(for: deputy, makesIdentity: all)
            var sessions = SessionOptions(name: name ?? ClientName.standard)
            sessions.elements = try element.catalogue
            sessions.connect.timeout = output.limit
            sessions.connect.limits = limits.device
            sessions.connect.logger = output.logger
            sessions.connect.security = access.security
            sessions.role = { _ in access.security.role }
            sessions.keepsGone = !all
            var place: ServicePlace?
            if let target { place = try await ServicePlace.find(target, for: access, output) }
            if let service = place?.discovered { sessions.known = [service] }
            if all { FileDescriptors.allowMany() }
            let plan = HubBridging.Plan(
                url: url, hub: hub, bridge: options, access: access, output: output, console: console, prints: prints,
                place: place)
            try await HubBridging(plan, sessions).run()
        }
    }
}
