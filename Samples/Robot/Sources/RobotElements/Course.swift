/// A course of gates to drive through, as a robot would know it from a map.
public enum Course {
    /// The gates' centres in metres from where the robot is switched on: to the front and to the left. The course is 10 m
    /// long and closes.
    public static let gates: [(x: Double, y: Double)] = [
        (1, 0.4), (2, -0.4), (3, 0.4), (3.6, -0.4), (3, -1.2), (2, -0.9), (1, -1.3), (0, -1), (-0.4, -0.4), (0.2, 0),
    ]
    /// How near to a gate's centre counts as through it, in metres.
    public static let radius = 0.15
}
