import Elemental
import Foundation
import RobotElements

/// Steers through the gates of the course by the poses that come back.
struct Pilot {
    /// A pose older than this is not steered by: the robot would be driven blind.
    static let oldest = Duration.milliseconds(150)

    /// How many gates are behind.
    private(set) var passed = 0

    /// Whether all gates are behind.
    var isDone: Bool { passed == Course.gates.count }

    /// The stick's position at that pose: forward, to the left, turning to the left.
    mutating func motion(at pose: Pose, age: Duration) -> Vector3 {
        while !isDone, distance(to: passed, from: pose) < Course.radius { passed += 1 }
        guard !isDone, age < Self.oldest else { return Vector3() }
        let gate = Course.gates[passed]
        let turn = (atan2(gate.y - pose.y, gate.x - pose.x) - pose.heading).remainder(dividingBy: 2 * .pi)
        // Slowly while the gate is to the side, or the robot would circle around it.
        return [Float(max(0.1, cos(turn))), 0, Float(min(max(turn * 2, -1), 1))]
    }

    private func distance(to gate: Int, from pose: Pose) -> Double {
        hypot(Course.gates[gate].x - pose.x, Course.gates[gate].y - pose.y)
    }
}
