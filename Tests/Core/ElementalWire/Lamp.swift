import ElementalWire

// Compiled by these tests, and for microcontrollers by Tests/embedded: one file of elements for both.
enum Lamp {
    static let brightness = Element<Float>(1, "Brightness", range: 0...1)
    static let motion = Element<Vector3>(2, "Motion", transport: .udp)
    static let all: ElementCatalogue = [brightness, motion]
}
