import ArgumentParser
import Elemental
import Foundation
import RobotElements
import SampleSecurity
import UnixSignals

@main
struct RobotClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RobotClient",
        abstract: "Finds a robot and drives a figure, 100 motions a second over UDP.")

    @Option(help: "The robot's name. (default: the first one found)")
    var name: String?

    @Option(help: "The figure to drive.")
    var figure = Figure.eight

    @Option(help: "How long to drive, in seconds.")
    var seconds = 2 * Double.pi

    @Option(help: "How fast, in metres per second, 0 to 2.")
    var speed: Float = 1

    @OptionGroup var security: ConnectingOptions

    func run() async throws {
        let found = try await ElementalBrowser(Robot.service).firstService(named: name)
        let report = Report()
        let robot = try await found.connect(
            as: "RobotClient", elements: Robot.all, options: security.connectOptions
        ) { robot in
            // Runs before the first value is delivered, so that none is missed.
            robot.onValue(of: Robot.pose) { report.add($0) }
            robot.onValue(of: Robot.battery) { report.battery = $0 }
            robot.onValue(of: Robot.name) { print("the robot calls itself '\($0)'") }
            robot.onValue(of: Robot.emergencyStop) { if $0 { print("the robot is stopped") } }
        }
        print("connected to \(robot)")
        try robot.send(speed, to: Robot.speed)
        try robot.send(true, to: Robot.lights)
        try robot.send([0.5, -0.3], to: Robot.arm)
        try robot.send(false, to: Robot.emergencyStop)

        let signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm])
        let sent = try await withThrowingTaskGroup(of: Int?.self) { group in
            group.addTask { try await drive(robot, report) }
            group.addTask {
                for await _ in signals { return 0 }
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            // When interrupted, the drive itself reports how far it got.
            let second = try await group.next() ?? nil
            return (first ?? 0) + (second ?? 0)
        }
        if robot.isConnected {
            try robot.send(Vector3(), to: Robot.motion)
            try robot.send(false, to: Robot.lights)
            await robot.close()
        }
        report.print(motionsSent: sent, statistics: robot.statistics)
    }

    /// Drives the figure, and returns how many motions it sent.
    private func drive(_ robot: ElementalDevice, _ report: Report) async throws -> Int {
        let start = SuspendingClock.now
        let count = Int(seconds * 100)
        for number in 0..<count {
            if Task.isCancelled { return number }
            if let reason = robot.disconnectReason {
                throw ElementalError(.notConnected, "the robot is gone: \(reason)")
            }
            try robot.send(figure.motion(at: Double(number) / 100), to: Robot.motion)
            if number % 50 == 0 { report.printPose() }
            // Scheduled from the start, so that small delays do not add up.
            try? await Task.sleep(
                until: start + .milliseconds(10 * (number + 1)), tolerance: .zero, clock: .suspending)
        }
        return count
    }
}
