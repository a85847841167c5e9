/// A robot's position and heading relative to where it was switched on.
public struct Pose: Codable, Sendable, Hashable {
    /// Seconds since then. Datagrams may overtake each other: an older pose is not news.
    public var time: Double
    /// Metres to the front.
    public var x: Double
    /// Metres to the left.
    public var y: Double
    /// Radians to the left, -π...π.
    public var heading: Double

    public init(time: Double, x: Double, y: Double, heading: Double) {
        self.time = time
        self.x = x
        self.y = y
        self.heading = heading
    }
}
