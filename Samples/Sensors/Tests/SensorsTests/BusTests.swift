import MachineReadings
import Testing

@testable import Sensors

#if os(Linux)
import CLinuxDevices
#endif

/// What goes to the buses. Here are none, so their calls themselves are not made but where they fail.
@Suite struct BusTests {
    @Test func addresses() throws {
        let sensor = try #require(BusAddress("tmp102=i2c-1/0x48", bus: "i2c-"))
        #expect(sensor == BusAddress("tmp102=i2c-1/72", bus: "i2c-"))
        #expect((sensor.name, sensor.device, sensor.number) == ("tmp102", "i2c-1", 0x48))
        #expect(BusAddress("Garden door=gpiochip0/17", bus: "gpiochip")?.number == 17)
    }

    @Test(arguments: [
        "", "=", "gpiochip0/17", "=gpiochip0/17", "Door=gpiochip0", "Door=gpiochip0/", "Door=gpiochip0/-1",
        "Door=gpiochip0/65536", "Door=gpiochip+1/1", "Door=gpiochip/1", "Door=gpiochip../1", "Door=../gpiochip0/1",
        "Door=gpiochip0/1/2",
        "Door=gpiochip0/0x", "Door=gpiochip0/1=2", "Door=i2c-1/1",
    ])
    func addressesThatAreNone(_ text: String) { #expect(BusAddress(text, bus: "gpiochip") == nil) }

    /// The register's values are those of TMP102's data sheet (SBOS397), table 5.
    @Test(
        arguments: [
            ([0x7F, 0xF0], 127.9375), ([0x64, 0x00], 100), ([0x4B, 0x00], 75), ([0x19, 0x00], 25),
            ([0x00, 0x40], 0.25),
            ([0x00, 0x00], 0), ([0xFF, 0xC0], -0.25), ([0xE7, 0x00], -25), ([0xC9, 0x00], -55),
        ] as [([UInt8], Double)])
    func theThermometer(_ bytes: [UInt8], _ celsius: Double) {
        #expect(TMP102(Memory(registers: [0: bytes])).sample().values == [celsius])
    }

    /// Numbers of the example in BMP280's data sheet (BST-BMP280-DS001, section 3.12).
    @Test func theDataSheetsExample() {
        let numbers: [Int] = [
            27504, 26435, -1000, 36477, -10685, 3024, 2855, 140, -7, 15500, -14600, 6000,
        ]
        let bytes = numbers.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let calibration = BME280.Calibration(bytes, humidity: nil)
        let values = calibration.compensate(temperature: 519888, pressure: 415148, humidity: nil)
        #expect(abs(values.celsius - 25.08) < 0.005)
        #expect(abs(values.pascals - 100653.27) < 0.05)
        #expect(values.percent == nil)
    }

    /// The same through the registers.
    @Test func aBMP280() throws {
        let calibration: [UInt8] = [
            0x70, 0x6B, 0x43, 0x67, 0x18, 0xFC, 0x7D, 0x8E, 0x43, 0xD6, 0xD0, 0x0B, 0x27, 0x0B, 0x8C, 0x00, 0xF9, 0xFF,
            0x8C, 0x3C, 0xF8, 0xC6, 0x70, 0x17,
        ]
        var registers: [UInt8: [UInt8]] = [0xD0: [0x58], 0x88: calibration, 0xF3: [0]]
        registers[0xF7] = [0x65, 0x5A, 0xC0, 0x7E, 0xED, 0x00]
        let sensor = try BME280(Memory(registers: registers))
        #expect(sensor.quantities.map(\.unit) == ["°C", "hPa"])
        let values = try sensor.read().map { (try #require($0) * 100).rounded() / 100 }
        #expect(values == [25.08, 1006.53])
        // What was not measured, and a chip that does not finish.
        registers[0xF7] = [0x80, 0, 0, 0x80, 0, 0]
        #expect(try BME280(Memory(registers: registers)).sample().values == [nil, nil])
        registers[0xF3] = [0b1000]
        #expect(try BME280(Memory(registers: registers)).sample().failure != nil)
    }

    /// The compensation of humidity in 32-bit integers, as the data sheet has it too (section 4.2.3), says the same.
    @Test(arguments: [0x4000, 0x6E30, 0x7A12])
    func humidity(_ raw: Int) throws {
        let temperature: [UInt8] = [0x70, 0x6B, 0x43, 0x67, 0x18, 0xFC]
        // H1 = 75, H2 = 362, H3 = 0, H4 = 334, H5 = 50, H6 = 30; H4 and H5 share a byte.
        let humidity: [UInt8] = [75, 0x6A, 0x01, 0, 0x14, 0x2E, 0x03, 30]
        let calibration = BME280.Calibration(temperature + [UInt8](repeating: 1, count: 18), humidity: humidity)
        let values = calibration.compensate(temperature: 519888, pressure: 415148, humidity: raw)
        let fine = Int((values.celsius * 5120).rounded())

        let v = fine - 76800
        let scaled = ((raw << 14) - (334 << 20) - 50 * v + 16384) >> 15
        let slope = ((((v * 30) >> 10) * (((v * 0) >> 11) + 32768)) >> 10) + 2_097_152
        var product = scaled * ((slope * 362 + 8192) >> 14)
        product -= ((((product >> 15) * (product >> 15)) >> 7) * 75) >> 4
        let percent = Double(min(max(product, 0), 419_430_400) >> 12) / 1024
        #expect(abs(try #require(values.percent) - percent) < 0.05)
    }

    @Test func anotherChipAtItsAddress() {
        #expect(throws: ReadingError.self) { try BME280(Memory(registers: [0xD0: [0x61]])) }
    }

    @Test func aThermometerThatDoesNotAnswer() {
        let sample = TMP102(Memory(registers: [:])).sample()
        #expect(sample.values == [nil])
        #expect(sample.failure != nil)
    }

    @Test func aSensorThatMiscountsOrLeavesItsRange() {
        struct Odd: Sensor {
            let quantities = [Quantity("a", unit: "", range: 0...1), Quantity("b", unit: "", range: 0...1)]
            let values: [Double?]
            func read() -> [Double?] { values }
        }
        #expect(Odd(values: [0.5]).sample().values == [0.5, nil])
        #expect(Odd(values: [2, .nan, 1]).sample().values == [nil, nil])
    }

    #if os(Linux)
    /// Numbers and sizes of include/uapi/linux/gpio.h and i2c-dev.h, which are the same on all processors of a Pi.
    @Test func theKernelsLayouts() {
        #expect(MemoryLayout<gpio_v2_line_request>.size == 592)
        #expect(MemoryLayout<gpio_v2_line_event>.size == 48)
        #expect(MemoryLayout<gpio_v2_line_values>.size == 16)
        #expect((i2c_slave, gpio_v2_get_line) == (0x0703, 0xC250_B407))
        #expect((gpio_v2_get_values, gpio_v2_set_values) == (0xC010_B40E, 0xC010_B40F))
    }

    /// Byte by byte, where the kernel looks for them.
    @Test(arguments: [false, true])
    func whatIsAskedOfTheKernel(_ isOutput: Bool) {
        let request = GPIOLine.request(17, isOutput: isOutput)
        let bytes = withUnsafeBytes(of: request) { Array($0) }
        func number(_ offset: Int) -> UInt32 {
            bytes[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        #expect(number(0) == 17)
        #expect(String(decoding: bytes[256..<269], as: UTF8.self) == "SystemMonitor")
        #expect(bytes[269] == 0)
        // Output; or input (2), and rising (4) and falling (5) edges.
        #expect(number(288) == (isOutput ? 1 << 3 : 1 << 2 | 1 << 4 | 1 << 5))
        #expect(number(296) == (isOutput ? 0 : 1))
        // The attribute: debounce, microseconds, of the first line.
        #expect([number(320), number(328), number(336)] == (isOutput ? [0, 0, 0] : [3, 5000, 1]))
        #expect(number(560) == 1)
    }

    @Test func absentDevicesAreNamed() throws {
        let line = try #require(BusAddress("Door=gpiochip250/1", bus: "gpiochip"))
        let sensor = try #require(BusAddress("tmp102=i2c-250/0x48", bus: "i2c-"))
        for failure in [
            #expect(throws: ReadingError.self) { try GPIOLine(line, isOutput: false) },
            #expect(throws: ReadingError.self) { try I2CDevice(sensor) },
        ] {
            #expect(try #require(failure).path.hasSuffix("250"))
        }
        let reserved = try #require(BusAddress("tmp102=i2c-250/0x78", bus: "i2c-"))
        #expect(try #require(throws: ReadingError.self) { try I2CDevice(reserved) }.reason.contains("0x77"))
    }

    /// The call reaches the kernel, which refuses it for such a file.
    @Test func filesThatAreNoDevices() throws {
        let line = BusAddress(name: "Door", device: "null", number: 1)
        let sensor = BusAddress(name: "tmp102", device: "null", number: 0x48)
        let reasons = [
            #expect(throws: ReadingError.self) { try GPIOLine(line, isOutput: true) }?.reason,
            #expect(throws: ReadingError.self) { try I2CDevice(sensor) }?.reason,
        ]
        #expect(reasons == ["Inappropriate ioctl for device", "Inappropriate ioctl for device"])
    }
    #endif
}

/// A device's registers.
private struct Memory: Registers {
    let registers: [UInt8: [UInt8]]

    func read(_ count: Int, from register: UInt8) throws -> [UInt8] {
        guard let bytes = registers[register], bytes.count == count else { throw ReadingError("i2c", "no answer") }
        return bytes
    }

    func write(_ byte: UInt8, to register: UInt8) throws {}
}
