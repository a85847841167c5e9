/// A small room with a heater, which stands for what a sensor and a relay would be connected to.
///
/// It has little heat, so that one sees it change: about half a degree a second.
struct Room {
    private(set) var temperature: Float = 18
    /// What the heater has used, in joules.
    var energy: UInt64 = 0

    /// What the heater takes when it is on, in watts.
    static let power: UInt16 = 1500
    /// Watts through the walls for each kelvin, and joules for a kelvin more.
    private static let loss: Float = 40
    private static let heat: Float = 2000

    /// Lets a quarter of a second pass.
    mutating func pass(isHeating: Bool, outside: Float) {
        let power = isHeating ? Float(Self.power) : 0
        temperature += (power - Self.loss * (temperature - outside)) / Self.heat / 4
        if isHeating { energy += UInt64(Self.power / 4) }
    }
}
