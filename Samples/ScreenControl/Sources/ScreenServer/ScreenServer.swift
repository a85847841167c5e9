import ArgumentParser
import Elemental
import Foundation
import SampleSecurity
import ScreenElements

@main
struct ScreenServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ScreenServer",
        abstract: "Lets clients set the brightness and the backlight of this machine's screen.",
        discussion: "Without a backlight that it may change, it only prints the values that it receives.")

    @Option(help: "The name that people see. (default: the host's name)")
    var name: String?

    @Option(help: "The TCP and UDP port; 0 lets the system choose.")
    var port = 0

    @OptionGroup var security: ServingOptions

    func run() async throws {
        var configuration = ServiceConfiguration(port: port)
        let pairing = try security.apply(to: &configuration)
        let service = ElementalService(
            Screen.service, displayName: name, elements: Screen.all, configuration: configuration)
        let backlight = findBacklight()
        // A client gets these values when it connects, so that its sliders are right at once.
        try service.send(backlight?.brightness ?? 1, to: Screen.brightness)
        try service.send(backlight?.isOn == false ? 0 : 1, to: Screen.backlight)
        // What happens about pairing is told below.
        service.onEvent { event in if case .pairing = event {} else { say("\(event)") } }
        pairing.prepare(service, say: say)
        // All clients get what the screen does; what it cannot do is refused with the reason. A write to /sys takes
        // microseconds; anything longer would not belong on the event loop.
        service.relay(Screen.brightness) { value, device in
            say("brightness \(value) from \(device)")
            try backlight?.set(brightness: value)
            return value
        }
        service.relay(Screen.backlight) { value, device in
            say("backlight \(value > 0 ? "on" : "off") from \(device)")
            try backlight?.set(isOn: value > 0)
            return value
        }
        try await service.runUntilInterrupted()
    }

    private func findBacklight() -> Backlight? {
        do {
            let backlight = try Backlight.first()
            say("controls the backlight '\(backlight.name)'")
            return backlight
        } catch {
            say("no real screen is controlled, what comes is only printed: \(error)")
            return nil
        }
    }
}
