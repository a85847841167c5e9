import ArgumentParser
import Elemental
import SignalR
import SignalRBridge
import Support

/// Bridges a service and a hub.
struct SignalRBridgeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge",
        abstract:
            "Bridge a service to a hub: its values call the hub; with --control the hub's calls set its elements.",
        discussion: """
            Each element has a method of its own, for both directions: its name without spaces, unless --map gives it \
            another. Each value of a readable element is a call to the hub. With --control the hub sets a writable element \
            by calling the method on this client with one argument: whoever may do that controls the service. The hub \
            decides which other clients it informs; a hub that leaves out the caller spares the service an echo.

            A service for paired clients is paired with the bridge, which has an identity of its own: 'elemental pair' with \
            the options that the bridge names.

            Of an element marked latest, the newest value passes at most --rate times a second; the values of other \
            elements queue. Both connections are restored when they are lost, until Ctrl-C.

              $ elemental signalr bridge robot --hub https://example.org/robots?name=Rover --token @token.txt
              $ elemental signalr bridge robot --hub http://localhost:5000/chat --control --map Speed=SetSpeed --only-mapped
            """)

    @OptionGroup var client: ClientOptions

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
        let (catalogue, options, url, prints) = (try element.catalogue, options, url, prints)
        // What the hub may do there is granted to the bridge, not to the user who runs it.
        let deputy = Deputy(name: "signalr-bridge", role: control ? .control : .observe)
        try await Interruption.run(console) { [client, hub, output] in
            try await client.withClient(output, console, elements: catalogue, deputy: deputy) {
                $0.reconnection = ReconnectOptions.untilInterrupted
            } run: { client in
                try await client.reportingConnection(console) {
                    let connection = try await hub.connection(to: url, output, reconnects: true)
                    try await client.bridge(to: connection, url, options, console, prints: prints)
                }
            }
        }
    }
}

extension Client {
    /// Passes values until the service ends or the task is cancelled.
    fileprivate func bridge(
        to connection: HubConnection, _ url: String, _ options: BridgeOptions, _ console: Console, prints: Bool
    ) async throws {
        let bridge = try HubBridge(device: device, elements: elements, connection: connection, options: options)
        await console.emit(BridgingEvent(bridge, url: url, controls: options.setsElements))
        if options.setsElements, !pairing.toControl(device).isEmpty, !bridge.setsAnything {
            await console.talk("\(device.name) lets this bridge set nothing\(pairing.toControl(device))")
        }
        let dropped = Locked<Set<Dropping>>([])
        bridge.onEvent { event in
            switch event {
            case .toHub, .toDevice: if !prints { return }
            case .dropped(let element, let direction):
                // Reported once per element: a flood would fill the screen.
                guard dropped.withLock({ $0.insert(Dropping(id: element.id, direction: direction)).inserted })
                else { return }
            default: break
            }
            console.offer(BridgeReport(event: event, url: url))
        }
        connection.onOpened {
            console.offer(HubConnectionEvent(url: url, change: .opened(connection.transport)))
        }
        guard let reason = try await bridge.run() else { return }
        await console.emit(DisconnectedEvent(device: device.name, reason: reason))
        if !reason.isExpected { throw Self.ended(device, reason) }
    }

    /// An element and the direction in which its values are dropped.
    private struct Dropping: Hashable {
        let id: Int8
        let direction: BridgeEvent.Direction
    }
}
