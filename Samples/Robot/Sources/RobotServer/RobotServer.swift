import ArgumentParser
import Elemental
import Foundation
import Logging
import RobotElements
import SampleSecurity
import ServiceLifecycle

@main
struct RobotServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RobotServer",
        abstract: "A simulated robot to be driven over the network.",
        discussion: """
            Nothing real moves: the program integrates the motion that it receives, and sends the pose a hundred times a \
            second and a drawn picture ten times. When no motion has come for 200 ms, the robot stops.
            """)

    @Option(help: "The name that people see.")
    var name = "Rover"

    @Option(help: "The TCP and UDP port; 0 lets the system choose.")
    var port = 0

    @Option(help: "The local address to listen on, such as 127.0.0.1. (default: all)")
    var address: String?

    @Flag(help: "Does not publish the service: clients need its address.")
    var unlisted = false

    @Option(help: "How many pictures it sends a second, 0 to 30.")
    var pictures = 10

    @OptionGroup var security: ServingOptions

    func validate() throws {
        guard (0...30).contains(pictures) else { throw ValidationError("--pictures is from 0 to 30 a second") }
    }

    func run() async throws {
        var configuration = ServiceConfiguration(port: port, address: address, isPublished: !unlisted)
        let pairing = try security.apply(to: &configuration)
        let service = ElementalService(
            Robot.service, displayName: name, elements: Robot.all, configuration: configuration)
        let drive = Drive(service)
        say("this robot is simulated: nothing real moves")
        service.onEvent { event in
            switch event {
            case .deviceDisconnected(let device, let reason):
                let count = device.statistics.messagesReceived
                say("disconnected: \(device), \(reason); it sent \(count) values")
            // Told below.
            case .pairing: break
            default: say("\(event)")
            }
        }
        pairing.prepare(service, say: say)

        try service.send(0.5, to: Robot.speed)
        try service.send([0, 0], to: Robot.arm)
        try service.send(false, to: Robot.lights)
        try service.send(name, to: Robot.name)
        try service.send(false, to: Robot.emergencyStop)
        try service.send(false, to: Robot.isDriven)
        service.onValue(of: Robot.motion) { motion in drive.withRobot { $0.steer(motion) } }
        service.onValue(of: Robot.speed) { speed in drive.withRobot { $0.speed = speed } }
        service.onValue(of: Robot.emergencyStop) { isStopped, _ in drive.withRobot { $0.isStopped = isStopped } }
        // All clients get what one of them sets.
        service.relay(Robot.speed)
        service.relay(Robot.emergencyStop)
        service.relay(Robot.arm)
        service.relay(Robot.lights)
        service.relay(Robot.name)
        service.onAnyValue { element, value, device in
            if element.id != Robot.motion.id { say("\(element.name.lowercased()): \(value) from \(device)") }
        }

        var logger = Logger(label: "RobotServer", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .error
        var services: [any Service] = [service, drive]
        if pictures > 0 {
            services.append(Eyes(drive: drive, service: service, period: .seconds(1) / pictures))
        }
        let group = ServiceGroup(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }
}
