public import Elemental
import Foundation
public import RobotElements

/// A simulated robot: it integrates its motion and drains a simulated battery.
public struct SimulatedRobot: Sendable {
    /// Seconds without a command after which the robot stops, as by a dead man's switch: its driver may be gone.
    public static let patience = 0.2
    /// Radians per second at full turn.
    static let turnRate = 2.0
    /// Battery drain in percent per second at rest, and in addition per metre per second.
    static let drainAtRest = 0.01
    static let drainPerSpeed = 0.05

    public private(set) var pose = Pose(time: 0, x: 0, y: 0, heading: 0)
    public private(set) var battery = 100.0
    /// Metres per second at full stick.
    public var speed: Float = 0.5
    public var isStopped = false
    private var motion = Vector3()
    private var silence = 0.0

    public init() {}

    /// Whether the robot currently follows a driver.
    public var isDriven: Bool { !isStopped && battery > 0 && silence < Self.patience && motion != Vector3() }

    /// Applies the stick's position. Components are clamped to -1...1; NaN counts as 0.
    public mutating func steer(_ motion: Vector3) {
        var motion = motion
        for part in motion.indices { motion[part] = motion[part].isNaN ? 0 : min(max(motion[part], -1), 1) }
        self.motion = motion
        silence = 0
    }

    /// Advances the simulation.
    public mutating func advance(seconds: Double) {
        silence += seconds
        pose.time += seconds
        var moved = 0.0
        if isDriven {
            let forward = Double(motion.x * speed) * seconds
            let left = Double(motion.y * speed) * seconds
            let turn = Double(motion.z) * Self.turnRate * seconds
            // Uses the heading halfway through the turn, so that a circle driven in steps closes.
            let heading = pose.heading + turn / 2
            pose.x += forward * cos(heading) - left * sin(heading)
            pose.y += forward * sin(heading) + left * cos(heading)
            pose.heading = (pose.heading + turn).remainder(dividingBy: 2 * .pi)
            moved = (forward * forward + left * left).squareRoot()
        }
        battery = max(0, battery - Self.drainAtRest * seconds - Self.drainPerSpeed * moved)
    }
}
