import Elemental
import RobotElements
import RobotSimulation
import ServiceLifecycle
import Synchronization

/// Advances the simulation and sends the robot's pose to the devices.
final class Drive: Service {
    private static let period = Duration.milliseconds(20)
    private let service: ElementalService
    private let robot = Mutex(SimulatedRobot())

    init(_ service: ElementalService) { self.service = service }

    /// Changes the robot, from any thread.
    func withRobot(_ change: (inout SimulatedRobot) -> Void) { robot.withLock { change(&$0) } }

    func run() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            var next = SuspendingClock.now
            var percent: Float?
            while !Task.isCancelled {
                let (pose, battery) = robot.withLock { robot in
                    robot.advance(seconds: Self.period / .seconds(1))
                    return (robot.pose, Float(robot.battery))
                }
                // A device without UDP gets no poses; failed sends do not matter, because the next pose follows soon.
                _ = try service.send(pose, to: Robot.pose)
                let rounded = (battery * 10).rounded() / 10
                if rounded != percent {
                    percent = rounded
                    _ = try service.send(rounded, to: Robot.battery)
                }
                next = max(next + Self.period, .now)
                try? await Task.sleep(until: next, tolerance: .zero, clock: .suspending)
            }
        }
    }
}
