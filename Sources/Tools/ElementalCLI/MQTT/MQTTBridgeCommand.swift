import ArgumentParser
import Elemental
import ElementalFollowing
import MQTT
import MQTTBridge
import Support

struct MQTTBridgeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge",
        abstract: "Show services to an MQTT broker and to Home Assistant; with --control they are set from there.",
        discussion: """
            Bridges the TARGETs, or every service that is found, as they come and go. Each element has a topic with its \
            newest value, retained: BASE/SERVICE/INSTANCE/ELEMENT. Names become topic levels in small letters; where a \
            character was replaced, four digits distinguish names. .../availability is online or offline.

            With --control, messages to .../ELEMENT/set set an element: a client that may publish there controls the service. \
            A refusal is answered in .../ELEMENT/refused and with the current value. Retained commands are refused.

            Home Assistant (2024.11 or later) shows each service as a device by itself. --map changes what an element is \
            there: Brightness=light, Humidity=sensor,device_class=humidity, Reset=button, Code=none.

            A service for paired clients is paired with the bridge, which has an identity of its own: 'elemental pair' with \
            the options that the bridge names. Broker, services and networks may come and go in any order, until Ctrl-C.

              $ elemental mqtt --broker mqtt://localhost
              $ elemental mqtt lamp robot/Rover --control \\
                  --broker mqtts://ada@pi.local --password @password.txt
              $ elemental mqtt 192.168.1.7:5000 --broker mqtt://localhost \\
                  --discovery none --rate 10 --print
            """)

    @OptionGroup var services: ServicesOptions
    @OptionGroup var broker: BrokerOptions

    @Flag(help: "Let the broker's clients set elements, and request the required role from the services.")
    var control = false

    @OptionGroup var topics: BridgeTopicOptions

    @Option(
        help: ArgumentHelp(
            "The maximum number of values of one element per second; 0 for no limit.", valueName: "values"))
    var rate = 2.0

    @Option(
        name: .customLong("map"),
        help: ArgumentHelp(
            "The component of an element in Home Assistant; may be given several times.",
            valueName: "element=component[,key=value]"),
        transform: ComponentOption.init(parsing:))
    var components: [ComponentOption] = []

    @Option(
        help: ArgumentHelp(
            "The bridge's name in its availability topic (default: this host's). Each bridge to a broker needs its own.",
            valueName: "id"))
    var id: String?

    @Flag(name: .customLong("print"), help: "Print each value that is forwarded.")
    var prints = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard rate == 0 || (0.001...100_000).contains(rate) else {
            throw ValidationError("--rate takes values a second from 0.001 to 100000, or 0 for no limit, not \(rate)")
        }
        if !oldComponents.isEmpty { OldSpelling.note("--as ELEMENT=COMPONENT", now: "--map ELEMENT=COMPONENT") }
        if topics.discovery == .none, !components.isEmpty || !oldComponents.isEmpty {
            throw ValidationError("--map is for Home Assistant: leave out --discovery none")
        }
        try checked { try options.check() }
    }

    /// The components in the spelling of earlier versions, `--as ELEMENT=COMPONENT`.
    private var oldComponents: [ComponentOption] {
        services.following.names.compactMap { try? ComponentOption(parsing: $0) }
    }

    private var options: MQTTBridgeOptions {
        var options = topics.options
        if let id { options.id = id }
        options.interval = rate == 0 ? .zero : .seconds(1 / rate)
        options.setsElements = control
        options.components = Dictionary((oldComponents + components).map { ($0.element, $0.component) }) { $1 }
        return options
    }

    func perform(_ console: Console) async throws {
        // The rights of the broker's clients are granted to the bridge, not to the user who runs it.
        let programIdentity = ProgramIdentity(name: "mqtt", role: control ? .control : .observe)
        try await Interruption.run(console) { [self] in
            var connection = try await broker.connection(output)
            // Everything on one event loop: no value is passed from thread to thread.
            let loop = connection.eventLoopGroup.next()
            connection.eventLoopGroup = loop
            var services = services
            services.following.names.removeAll { (try? ComponentOption(parsing: $0)) != nil }
            let followed = try await services.makeFollower(for: programIdentity, console, output) {
                $0.connect.eventLoopGroup = loop
            }
            FileDescriptors.allowMany()
            let bridge = try MQTTBridge(followed.follower, broker: broker.address, connection, options)
            let values = BridgeReport(console: console, prints: prints, setsElements: control)
            values.follow(followed)
            let report = MQTTReport(broker: broker.address, options: options, values: values)
            bridge.onEvent { report.note($0) }
            try await bridge.run()
        }
    }
}

/// The topics of a bridge, and where it announces the services.
struct BridgeTopicOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The first level, or levels, of the topics.", valueName: "topic"))
    var base = "elemental"

    @Option(help: "Where to announce the services.")
    var discovery = MQTTBridgeOptions.Discovery.homeAssistant

    @Option(
        help: ArgumentHelp("The prefix of the discovery's topics, as it is set in Home Assistant.", valueName: "topic"))
    var discoveryPrefix = MQTTBridgeOptions().discoveryPrefix

    var options: MQTTBridgeOptions {
        var options = MQTTBridgeOptions()
        options.base = base
        options.discoveryPrefix = discoveryPrefix
        options.discovery = discovery
        return options
    }
}

extension MQTTBridgeOptions.Discovery: ExpressibleByArgument {}
