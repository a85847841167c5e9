/// A thermometer on I²C: TMP102, and LM75 whose register is the same with fewer bits.
public struct TMP102: Sensor {
    public let quantities = [Quantity("TMP102", unit: "°C", range: -55...150)]
    let device: any Registers

    public init(_ device: any Registers) { self.device = device }

    public func read() throws -> [Double?] {
        // Register 0: twelve bits from the left, in sixteenths of a degree.
        let bytes = try device.read(2, from: 0)
        let bits = Int16(bitPattern: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
        return [Double(bits >> 4) / 16]
    }
}
