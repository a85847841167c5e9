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
        abstract: "Finds a robot and drives a figure, 100 motions a second over UDP.",
        discussion: """
            Circle, eight and square are driven by the clock. The course is driven by the poses that come back: while none \
            comes, the robot is told to stand. Exits with 1 if the course is not done in time.
            """)

    @Option(help: "The robot's name. (default: the first one found)")
    var name: String?

    @Option(help: "The address of a robot that is not published.")
    var host: String?

    @Option(help: "The port of a robot that is not published.")
    var port: Int?

    @Option(help: "What to drive.")
    var figure = Figure.eight

    @Option(help: "How long to drive, in seconds. (default: the figure once; for the course at most 60)")
    var seconds: Double?

    @Option(help: "How fast, in metres per second, 0 to 2.")
    var speed: Float = 1

    @OptionGroup var security: ConnectingOptions

    func validate() throws {
        guard (host == nil) == (port == nil), port.map({ (1...65535).contains($0) }) ?? true else {
            throw ValidationError("--host and --port (1 to 65535) go together")
        }
        guard seconds.map({ (0...86_400).contains($0) }) ?? true else {
            throw ValidationError("--seconds is from 0 to 86400, which is a day")
        }
    }

    func run() async throws {
        let report = Report()
        let robot = try await connect(report)
        print("connected to \(robot)")
        try robot.send(speed, to: Robot.speed)
        try robot.send(true, to: Robot.lights)
        try robot.send([0.5, -0.3], to: Robot.arm)
        try robot.send(false, to: Robot.emergencyStop)

        let signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm])
        let driving = Task { try await drive(robot, report) }
        let interruption = Task {
            for await _ in signals { return driving.cancel() }
        }
        let (motionsSent, isDone) = try await driving.value
        interruption.cancel()
        if robot.isConnected {
            try robot.send(Vector3(), to: Robot.motion)
            try robot.send(false, to: Robot.lights)
            await robot.close()
        }
        report.print(motionsSent: motionsSent, statistics: robot.statistics)
        guard isDone else {
            print("the course was not finished")
            throw ExitCode.failure
        }
    }

    private func connect(_ report: Report) async throws -> ElementalDevice {
        var options = try security.connectOptions
        // A robot that drives out of reach comes back.
        options.reconnection = .forever()
        // Runs before the first value is delivered, so that none is missed.
        let configure: @Sendable (ElementalDevice) -> Void = { robot in
            robot.onValue(of: Robot.pose) { report.add($0) }
            robot.onValue(of: Robot.battery) { report.battery = $0 }
            robot.onValue(of: Robot.name) { print("the robot calls itself '\($0.printable)'") }
            robot.onValue(of: Robot.emergencyStop) { if $0 { print("the robot is stopped") } }
            robot.onEvent { event in
                switch event {
                case .willReconnect(_, let delay): print("the connection is lost; tries again in \(delay)")
                case .didReconnect: print("connected again")
                case .disconnected: break
                }
            }
        }
        if let host, let port {
            return try await .connect(
                host: host, port: port, as: "RobotClient", elements: Robot.all, options: options, configure: configure)
        }
        return try await ElementalBrowser(Robot.service).firstService(named: name)
            .connect(as: "RobotClient", elements: Robot.all, options: options, configure: configure)
    }

    /// Drives until the figure or the course is done, time is over or the task is cancelled.
    ///
    /// - Returns: how many motions it sent, and whether the course is done; figures always are.
    private func drive(_ robot: ElementalDevice, _ report: Report) async throws -> (count: Int, isDone: Bool) {
        let start = SuspendingClock.now
        var pilot = Pilot()
        let count = Int((seconds ?? figure.period) * 100)
        for number in 0..<count {
            if Task.isCancelled { return (number, true) }
            if let reason = robot.disconnectReason {
                throw ElementalError(.notConnected, "the robot is gone: \(reason)")
            }
            var motion = figure.motion(at: Double(number) / 100)
            if motion == nil, let (pose, age) = report.pose {
                motion = pilot.motion(at: pose, age: age)
                if pilot.isDone { return (number, true) }
            }
            // Where it cannot be sent now, the next one follows soon.
            if let motion { try? robot.send(motion, to: Robot.motion) }
            if number % 50 == 0 { report.printPose() }
            // Scheduled from the start, so that small delays do not add up.
            try? await Task.sleep(
                until: start + .milliseconds(10 * (number + 1)), tolerance: .zero, clock: .suspending)
        }
        return (count, figure != .course)
    }
}
