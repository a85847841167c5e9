import Elemental
import RobotElements
import RobotSimulation
import ServiceLifecycle
import Synchronization

/// The control loop: moves the robot a hundred times a second and tells the devices where it is.
final class Drive: Service {
    private static let period = Duration.milliseconds(10)
    private let service: ElementalService
    private let robot = Mutex(SimulatedRobot())

    init(_ service: ElementalService) { self.service = service }

    /// Changes the robot, from any thread.
    func withRobot<Result: Sendable>(_ change: (inout SimulatedRobot) -> sending Result) -> Result {
        robot.withLock { change(&$0) }
    }

    func run() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            var next = SuspendingClock.now
            var told = (battery: Float?.none, isDriven: false)
            var (worst, count) = (Duration.zero, 0)
            while !Task.isCancelled {
                worst = max(worst, .now - next)
                let (pose, battery, isDriven) = robot.withLock { robot in
                    robot.advance(seconds: Self.period / .seconds(1))
                    return (robot.pose, Float((robot.battery * 10).rounded() / 10), robot.isDriven)
                }
                // A device without UDP gets no poses; failed sends do not matter, because the next pose follows soon.
                _ = try service.send(pose, to: Robot.pose)
                if battery != told.battery { _ = try service.send(battery, to: Robot.battery) }
                if isDriven != told.isDriven { _ = try service.send(isDriven, to: Robot.isDriven) }
                told = (battery, isDriven)
                count += 1
                if count.isMultiple(of: 100) {
                    _ = try service.send(Float(worst / .milliseconds(1)), to: Robot.loopDelay)
                    worst = .zero
                }
                // Counted from the beginning, so that small delays do not add up; after a long one it does not race.
                next = max(next + Self.period, .now - Self.period)
                try? await Task.sleep(until: next, tolerance: .zero, clock: .suspending)
            }
        }
    }
}

/// Draws and sends what the robot sees, beside the control loop: no picture is waited for there.
struct Eyes: Service {
    let drive: Drive
    let service: ElementalService
    /// From one picture to the next.
    let period: Duration

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                _ = try service.send(Camera.picture(at: drive.withRobot { $0.pose }), to: Robot.camera)
                try? await Task.sleep(for: period)
            }
        }
    }
}
