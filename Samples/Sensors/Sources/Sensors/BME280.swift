import Foundation
import MachineReadings

/// Temperature, pressure and humidity on I²C: BME280, and BMP280 which has no humidity.
///
/// The registers and the compensation are those of Bosch's data sheets BST-BME280-DS002 (sections 4.2.2, 5 and 8.1) and
/// BST-BMP280-DS001 (section 3.11).
public struct BME280: Sensor {
    public let quantities: [Quantity]
    private let device: any Registers
    private let calibration: Calibration
    private let hasHumidity: Bool

    /// Reads the chip's id before anything is written, and then its calibration.
    ///
    /// - Throws: ``ReadingError`` if another chip has the address.
    public init(_ device: any Registers) throws {
        self.device = device
        let chip = try device.read(1, from: 0xD0)[0]
        guard chip == 0x58 || chip == 0x60 else {
            throw ReadingError("BME280", "the chip's id is 0x\(String(chip, radix: 16)), not 0x60 or 0x58 (BMP280)")
        }
        hasHumidity = chip == 0x60
        calibration = Calibration(
            try device.read(24, from: 0x88),
            humidity: try hasHumidity ? device.read(1, from: 0xA1) + device.read(7, from: 0xE1) : nil)
        let name = hasHumidity ? "BME280" : "BMP280"
        let all = [
            Quantity("\(name) temperature", unit: "°C", range: -40...85),
            Quantity("\(name) pressure", unit: "hPa", range: 300...1100),
            Quantity("\(name) humidity", unit: "%", range: 0...100),
        ]
        quantities = hasHumidity ? all : Array(all.dropLast())
    }

    public func read() throws -> [Double?] {
        // Each once, then sleep: register ctrl_hum counts from the writing of ctrl_meas on.
        if hasHumidity { try device.write(0b001, to: 0xF2) }
        try device.write(0b001_001_01, to: 0xF4)
        // It takes 9.3 ms at most.
        Thread.sleep(forTimeInterval: 0.01)
        guard try device.read(1, from: 0xF3)[0] & 0b1000 == 0 else {
            throw ReadingError("BME280", "it does not finish")
        }
        let bytes = try device.read(hasHumidity ? 8 : 6, from: 0xF7).map(Int.init)
        let twenty = { (first: Int) in bytes[first] << 12 | bytes[first + 1] << 4 | bytes[first + 2] >> 4 }
        // What was not measured is 0x80000.
        guard twenty(3) != 0x80000, twenty(0) != 0x80000 else { return quantities.map { _ in nil } }
        let values = calibration.compensate(
            temperature: twenty(3), pressure: twenty(0), humidity: hasHumidity ? bytes[6] << 8 | bytes[7] : nil)
        return [values.celsius, values.pascals / 100] + (hasHumidity ? [values.percent] : [])
    }

    /// What the maker measured of this one chip.
    struct Calibration: Sendable {
        /// dig_T1…3, dig_P1…9 and dig_H1…6, from index 1.
        private let t: [Double], p: [Double], h: [Double]?

        init(_ bytes: [UInt8], humidity: [UInt8]?) {
            let words = stride(from: 0, to: 24, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
            // The first of each is unsigned.
            let numbers = words.enumerated().map { [0, 3].contains($0) ? Double($1) : Double(Int16(bitPattern: $1)) }
            t = [0] + numbers[0..<3]
            p = [0] + numbers[3..<12]
            h = humidity.map { b in
                let signed = b.map { Int(Int8(bitPattern: $0)) }
                return [
                    0, Int(b[0]), signed[2] << 8 | Int(b[1]), Int(b[3]), signed[4] << 4 | Int(b[5] & 15),
                    signed[6] << 4 | Int(b[5] >> 4), signed[7],
                ].map { Double($0) }
            }
        }

        func compensate(
            temperature: Int, pressure: Int, humidity: Int?
        ) -> (celsius: Double, pascals: Double, percent: Double?) {
            let raw = Double(temperature)
            let difference = raw / 131072 - t[1] / 8192
            let fine = (raw / 16384 - t[1] / 1024) * t[2] + difference * difference * t[3]

            let v = fine / 2 - 64000
            let offset = (v * v * p[6] / 32768 + v * p[5] * 2) / 4 + p[4] * 65536
            let gain = (1 + (p[3] * v * v / 524288 + p[2] * v) / 524288 / 32768) * p[1]
            let first = (1_048_576 - Double(pressure) - offset / 4096) * 6250 / gain
            let pascals = first + (p[9] * first * first / 2_147_483_648 + first * p[8] / 32768 + p[7]) / 16

            guard let h, let humidity else { return (fine / 5120, pascals, nil) }
            let w = fine - 76800
            let bent = h[2] / 65536 * (1 + h[6] / 67_108_864 * w * (1 + h[3] / 67_108_864 * w))
            let percent = (Double(humidity) - (h[4] * 64 + h[5] / 16384 * w)) * bent
            return (fine / 5120, pascals, min(max(percent * (1 - h[1] * percent / 524288), 0), 100))
        }
    }
}
