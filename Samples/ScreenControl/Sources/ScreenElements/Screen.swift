public import Elemental

/// A screen's controls, shared by the server and the client.
public enum Screen {
    public static let service = "screen_control"

    /// The brightness, from dark (0) to the maximum (1).
    public static let brightness = Element<Float>(1, "Brightness", range: 0...1, step: 0.01, latest: true)
    /// The backlight's power: 0 is off, anything above is on.
    public static let backlight = Element<Float>(2, "Backlight", range: 0...1, step: 1)

    public static let all: ElementCatalogue = [brightness, backlight]
}
