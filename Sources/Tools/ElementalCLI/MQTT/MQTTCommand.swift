import ArgumentParser

struct MQTTCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mqtt",
        abstract: "Show services to an MQTT broker and to Home Assistant: 'elemental mqtt TARGET… --broker URL'.",
        discussion: """
            'elemental mqtt' without the name of a subcommand is 'elemental mqtt bridge'; its options are told by \
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
