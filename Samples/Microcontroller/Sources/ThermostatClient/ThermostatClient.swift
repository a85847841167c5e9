import ArgumentParser
import Elemental
import SampleSecurity
import ThermostatElements

@main
struct ThermostatClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ThermostatClient",
        abstract: "Finds a thermostat, sets it as asked, and prints its temperature as it changes.",
        usage: """
            ThermostatClient
            ThermostatClient --target 22.5 --mode heat --count 20
            """)

    @Option(help: "The thermostat's name. (default: the first one found)")
    var name: String?

    @Option(help: "The temperature to set, 5 to 30 °C.")
    var target: Float?

    @Option(help: "The mode to set: off, heat or eco.")
    var mode: String?

    @Option(help: "How many readings to print.")
    var count = 10

    @OptionGroup var security: ConnectingOptions

    func run() async throws {
        let found = try await ElementalBrowser(Thermostat.service).firstService(named: name)
        let thermostat = try await found.connect(
            as: "ThermostatClient", elements: Thermostat.all, options: security.connectOptions)
        print("connected to \(thermostat)")
        if let target { try await set(Thermostat.target, to: target, at: thermostat) }
        if let mode {
            guard let choice = Thermostat.mode.choices.first(where: { $0.name == mode }),
                case .uint8(let number) = choice.value
            else { throw ValidationError("the mode is \(Thermostat.mode.choices.map(\.name).joined(separator: ", "))") }
            try await set(Thermostat.mode, to: number, at: thermostat)
        }
        var left = count
        for await temperature in thermostat.values(of: Thermostat.temperature) {
            print("\((temperature * 10).rounded() / 10) \(Thermostat.temperature.unit)")
            left -= 1
            if left == 0 { break }
        }
        await thermostat.close()
    }

    /// Sends a value and waits until the thermostat confirms it.
    private func set<Value: Equatable>(_ element: Element<Value>, to value: Value, at thermostat: ElementalDevice)
        async throws
    {
        let answers = thermostat.values(of: element)
        try thermostat.send(value, to: element)
        for await answer in answers where answer == value {
            print("\(element.name.lowercased()) is now \(answer)")
            return
        }
        throw ElementalError(.notConnected, "the connection has ended before the thermostat took the value")
    }
}
