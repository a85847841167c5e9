/// What a person names on a bus: `tmp102=i2c-1/0x48` or `Door=gpiochip0/17`.
public struct BusAddress: Sendable, Equatable {
    public let name: String
    /// A file's name in `/dev`.
    public let device: String
    public let number: Int
}

extension BusAddress {
    /// - Parameter bus: what the device's name begins with, `i2c-` or `gpiochip`; digits follow.
    public init?(_ text: String, bus: String) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.count <= 60 else { return nil }
        let place = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard place.count == 2, place[0].hasPrefix(bus), place[0].dropFirst(bus.count).allSatisfy(\.isNumber),
            UInt8(place[0].dropFirst(bus.count)) != nil
        else { return nil }
        let isHexadecimal = place[1].hasPrefix("0x")
        guard let number = UInt16(place[1].dropFirst(isHexadecimal ? 2 : 0), radix: isHexadecimal ? 16 : 10) else {
            return nil
        }
        self.init(name: String(parts[0]), device: String(place[0]), number: Int(number))
    }
}
