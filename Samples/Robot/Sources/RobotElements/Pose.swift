/// A robot's position and heading relative to where it was switched on.
public struct Pose: Codable, Sendable, Hashable {
    /// Metres to the front.
    public var x: Double
    /// Metres to the left.
    public var y: Double
    /// Radians to the left, -π...π.
    public var heading: Double

    public init(x: Double, y: Double, heading: Double) {
        self.x = x
        self.y = y
        self.heading = heading
    }
}
