import ArgumentParser
import Elemental
import SignalRBridge

struct SignalRBridgeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge",
        abstract:
            "Bridge services to a hub: values call the hub; with --control its calls set elements.",
        discussion: """
            Each element has a method of its own, for both directions: its name without spaces, unless --map gives it \
            another. Each value of a readable element is a call to the hub. With --control the hub sets a writable element \
            by calling the method on this client with one argument: its callers control the service. The hub \
            decides which other clients it informs; a hub that leaves out the caller spares the service an echo.

            Bridges the TARGETs, or every service that is found, as they come and go, each over a connection of its own to \
            the hub; --map applies wherever an element has that name. A service that returns with other elements is bridged \
            with those.

            A service for paired clients is paired with the bridge, which has an identity of its own: 'elemental pair' with \
            the options that the bridge names.

            Of an element marked latest, the newest value passes at most --rate times a second; the values of other \
            elements queue. Both connections are restored when they are lost, until Ctrl-C.

              $ elemental signalr bridge robot \\
                  --hub https://example.org/robots?name=Rover --token @token.txt
              $ elemental signalr bridge robot --hub http://localhost:5000/chat --control \\
                  --map Speed=SetSpeed --only-mapped
              $ elemental signalr bridge --hub http://localhost:5000/house
            """)

    @OptionGroup var services: ServicesOptions

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
            "The maximum number of values of one element per second in each direction; 0: no limit.",
            valueName: "values")
    )
    var rate = 20.0

    @Flag(help: "Let the hub set elements, and request the required role from the service.")
    var control = false

    @Flag(name: .customLong("print"), help: "Print each value that is forwarded.")
    var prints = false

    @OptionGroup var element: ElementOptions
    @OptionGroup var hub: HubOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if services.followsAll, !element.specs.isEmpty {
            throw ValidationError("--element needs a TARGET: without one, each service sends its own catalogue")
        }
        try HubOptions.check(url: url, "--hub")
        guard rate == 0 || (0.001...100_000).contains(rate) else {
            throw ValidationError("--rate takes values a second from 0.001 to 100000, or 0 for no limit, not \(rate)")
        }
        if onlyMapped, mappings.isEmpty { throw ValidationError("--only-mapped leaves nothing without a --map") }
    }

    private var options: BridgeOptions {
        var options = BridgeOptions()
        options.methods = Dictionary(mappings.map { ($0.element, $0.name) }) { $1 }
        options.passesMappedOnly = onlyMapped
        options.setsElements = control
        options.interval = rate == 0 ? .zero : .seconds(1 / rate)
        return options
    }

    func perform(_ console: Console) async throws {
        // The rights of the hub are granted to the bridge, not to the user who runs it.
        let programIdentity = ProgramIdentity(name: "signalr-bridge", role: control ? .control : .observe)
        try await Interruption.run(console) { [self] in
            FileDescriptors.allowMany()
            let elements = try element.catalogue
            let followed = try await services.makeFollower(for: programIdentity, console, output) {
                $0.elements = elements
                ($0.keepsLongValues, $0.keepsLongValuesInDevices) = (false, true)
            }
            let values = BridgeReport(console: console, prints: prints, setsElements: control)
            values.follow(followed)
            // A mapped name that the only service does not have is a typing mistake.
            let isStrict = services.targets.count == 1 && !services.followsAll
            let bridge = SignalRBridge(options: options, isStrict: isStrict, followed.follower) {
                [hub, url, output] _ in
                try await hub.connection(to: url, output, reconnects: true)
            }
            bridge.onEvent { [url, control] event in
                let key = event.key
                switch event.change {
                case .began(let bridge):
                    console.offer(.bridging(key, to: url, controls: control, bridge.device.grantedRole))
                case .notBridged(let error):
                    console.offer(.serviceState(key, "refused", "invalidOptions", error.message))
                case .hubOpened(let transport): console.offer(.hub(url, .opened, over: transport, key))
                case .bridge(.value(let value)): values.note(value)
                case .bridge(.hubAway(let error)): console.offer(.hub(url, .willReconnect(error), key))
                case .bridge(.hubReturned): console.offer(.hub(url, .didReconnect, key))
                }
            }
            try await bridge.run()
        }
    }
}
