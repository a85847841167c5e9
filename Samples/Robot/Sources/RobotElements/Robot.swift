public import Elemental
public import Foundation

/// A robot's elements, shared by the server and the client.
public enum Robot {
    public static let service = "robot"

    /// The stick's position, each component -1...1: forward, to the left, turning to the left. It is sent a hundred times a
    /// second, so that a lost datagram costs ten milliseconds and only the newest one matters.
    public static let motion = Element<Vector3>(1, "Motion", transport: .udp, access: .write, latest: true)
    /// The speed at full stick.
    public static let speed = Element<Float>(2, "Speed", unit: "m/s", range: 0...2, step: 0.1)
    /// The angles of shoulder and elbow, in radians.
    public static let arm = Element<Vector2>(3, "Arm", unit: "rad", latest: true)
    public static let lights = Element<Bool>(4, "Lights")
    public static let battery = Element<Float>(5, "Battery", unit: "%", range: 0...100, access: .read, latest: true)
    /// The robot's pose, a hundred times a second. A `Codable` value is sent as JSON; over UDP, because the next one
    /// follows soon.
    public static let pose = Element<JSON<Pose>>(6, "Pose", transport: .udp, access: .read, latest: true)
    public static let name = Element<String>(7, "Name")
    /// While true, the robot does not move. Over TCP, because it must arrive.
    public static let emergencyStop = Element<Bool>(8, "Emergency stop").urgent
    /// Whether somebody steers. It becomes false when no motion has come for 200 ms, and the robot stops.
    public static let isDriven = Element<Bool>(9, "Driven", access: .read)
    /// What the robot sees, ten times a second, a BMP file of 20 kB. Whoever is too slow for all pictures gets the newest.
    public static let camera = Element<Data>(10, "Camera", access: .read, latest: true)
    /// How late the control loop was at worst in the last second.
    public static let loopDelay = Element<Float>(11, "Loop delay", unit: "ms", access: .read, latest: true)

    public static let all: ElementCatalogue = [
        motion, speed, arm, lights, battery, pose, name, emergencyStop, isDriven, camera, loopDelay,
    ]
}
