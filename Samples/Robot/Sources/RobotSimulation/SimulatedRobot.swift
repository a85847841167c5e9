public import Elemental
import Foundation
public import RobotElements

/// A robot that exists in this program only: it adds up its motion and empties an imagined battery.
public struct SimulatedRobot: Sendable {
    /// A robot whose driver is silent for longer, in seconds, stops: the driver may be gone.
    public static let patience = 0.5
    /// Radians per second when the stick is turned to its end.
    static let turnRate = 2.0
    /// Percent per second at rest, and what a metre per second adds.
    static let drainAtRest = 0.01
    static let drainPerSpeed = 0.05

    public private(set) var pose = Pose(x: 0, y: 0, heading: 0)
    public private(set) var battery = 100.0
    /// Metres per second at full stick.
    public var speed: Float = 0.5
    public var isStopped = false
    private var motion = Vector3()
    private var silence = 0.0

    public init() {}

    /// Whether the robot follows a driver now.
    public var isDriven: Bool { !isStopped && battery > 0 && silence < Self.patience && motion != Vector3() }

    /// Takes what the stick says. Parts beyond -1...1 are cut, what is no number counts as nothing.
    public mutating func steer(_ motion: Vector3) {
        var motion = motion
        for part in motion.indices { motion[part] = motion[part].isNaN ? 0 : min(max(motion[part], -1), 1) }
        self.motion = motion
        silence = 0
    }

    /// Lets time pass.
    public mutating func advance(seconds: Double) {
        silence += seconds
        var moved = 0.0
        if isDriven {
            let forward = Double(motion.x * speed) * seconds
            let left = Double(motion.y * speed) * seconds
            let turn = Double(motion.z) * Self.turnRate * seconds
            // Halfway through the turn: a circle driven in steps then closes.
            let heading = pose.heading + turn / 2
            pose.x += forward * cos(heading) - left * sin(heading)
            pose.y += forward * sin(heading) + left * cos(heading)
            pose.heading = (pose.heading + turn).remainder(dividingBy: 2 * .pi)
            moved = (forward * forward + left * left).squareRoot()
        }
        battery = max(0, battery - Self.drainAtRest * seconds - Self.drainPerSpeed * moved)
    }
}
