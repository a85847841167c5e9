import ArgumentParser
import MQTT
import MQTTBridge
import Support

struct MQTTCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mqtt",
        abstract: "Show services to an MQTT broker and to Home Assistant: 'elemental mqtt TARGET… --broker URL'.",
        discussion: """
            'elemental mqtt' without the name of a subcommand is 'elemental mqtt bridge'; its options are in \
            'elemental mqtt bridge --help'.

              $ elemental mqtt --all --broker mqtt://localhost
              $ elemental mqtt lamp --control \\
                  --broker mqtts://ada@homeassistant.local --password @password.txt
              $ mosquitto_sub -h localhost -t 'elemental/#' -v
              $ elemental mqtt forget lamp --broker mqtt://localhost
            """,
        subcommands: [MQTTBridgeCommand.self, MQTTForgetCommand.self],
        defaultSubcommand: MQTTBridgeCommand.self)
}

struct MQTTForgetCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Clear a broker's retained messages of services, and remove them from Home Assistant.",
        discussion: """
            For services that will not come back: a bridge marks them as offline, but does not remove them. \
            They need not be running. A bridge that still runs announces its services again when it reconnects, so stop it \
            first. Give --base and --discovery as for the bridge.

              $ elemental mqtt forget 'lamp/Desk lamp' --broker mqtt://localhost
              $ elemental mqtt forget robot --broker mqtt://localhost
            """)

    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.",
            discussion: "SERVICE alone stands for all its instances.", valueName: "target"),
        transform: Target.init(parsing:))
    var targets: [Target]

    @OptionGroup var broker: BrokerOptions
    @OptionGroup var topics: BridgeTopicOptions
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try checked { try topics.options.check() } }

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .task) { [self] in
            let emptied = try await MQTTBridge.forget(
                try await targets.followingAliases(state).map(\.subject), broker: broker.address,
                connection: try await broker.connection(output),
                options: topics.options)
            for topic in emptied { await console.emit(.forgotten(topic)) }
            if emptied.isEmpty { await console.talk("the broker has retained nothing for these services") }
        }
    }
}

extension ConsoleEvent where Self == Notice {
    static func forgotten(_ topic: String) -> Notice {
        Notice("forgotten", [("topic", .string(topic))], isResult: true, topic)
    }
}
