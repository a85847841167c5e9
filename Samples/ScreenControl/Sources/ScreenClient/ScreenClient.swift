import ArgumentParser
import Elemental
import SampleSecurity
import ScreenElements

@main
struct ScreenClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ScreenClient",
        abstract: "Finds a screen, prints how bright it is and sets it as asked.",
        usage: """
            ScreenClient
            ScreenClient --brightness 0.4
            ScreenClient --backlight off
            ScreenClient --fade-to 1
            """)

    @Option(help: "The screen's name. (default: the first one found)")
    var name: String?

    @Option(help: "The brightness to set, 0 to 1.")
    var brightness: Float?

    @Option(help: "The brightness to fade to within a second, 0 to 1.")
    var fadeTo: Float?

    @Option(help: "The backlight to set: on or off.")
    var backlight: Switch?

    @OptionGroup var security: ConnectingOptions

    enum Switch: String, ExpressibleByArgument {
        case on, off
    }

    func run() async throws {
        let found = try await ElementalBrowser(Screen.service).firstService(named: name)
        let screen = try await found.connect(
            as: "ScreenClient", elements: Screen.all, options: security.connectOptions)
        print("connected to \(screen)")
        // A service sends its values to every new client; one of the older framework sends none and answers no pings.
        guard screen.hello != nil else {
            if let brightness { try screen.send(brightness, to: Screen.brightness) }
            if let backlight { try screen.send(backlight == .on ? 1 : 0, to: Screen.backlight) }
            print("this screen runs an older framework, which does not tell its values")
            return await screen.close()
        }
        let now = try await value(of: Screen.brightness, at: screen)
        print("brightness \(now), backlight \(try await value(of: Screen.backlight, at: screen) > 0 ? "on" : "off")")
        if let brightness { try await set(Screen.brightness, to: brightness, at: screen) }
        if let backlight { try await set(Screen.backlight, to: backlight == .on ? 1 : 0, at: screen) }
        if let fadeTo {
            // Sending never waits: the loop's own clock sets the pace.
            for step in 1...50 {
                let part = Float(step) / 50
                try screen.send(now + (fadeTo - now) * part, to: Screen.brightness)
                try await Task.sleep(for: .milliseconds(20), clock: .suspending)
            }
            try await set(Screen.brightness, to: fadeTo, at: screen)
        }
        await screen.close()
    }

    /// Sends a value and waits until the screen confirms it.
    private func set(_ element: Element<Float>, to value: Float, at screen: ElementalDevice) async throws {
        let answers = screen.values(of: element)
        try screen.send(value, to: element)
        for await answer in answers where answer == value {
            print("\(element.name.lowercased()) is now \(answer)")
            return
        }
        throw ElementalError(.notConnected, "the connection has ended before the screen took the value")
    }

    /// The last value from the service, or else the next one.
    private func value(of element: Element<Float>, at screen: ElementalDevice) async throws -> Float {
        for await value in screen.values(of: element) { return value }
        throw ElementalError(.notConnected, "the connection has ended")
    }
}
