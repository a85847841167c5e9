import Foundation
import MachineReadings
import Testing

@testable import Sensors

/// What is found in a folder that is as the kernel's `/sys`.
@Suite struct FileSensorTests {
    private static let good = """
        91 01 4b 46 7f ff 0c 10 25 : crc=25 YES
        91 01 4b 46 7f ff 0c 10 25 t=25062

        """

    @Test func thermometersOn1Wire() throws {
        try withSys { sys in
            try write(Self.good, "bus/w1/devices/28-0316a2795aff/w1_slave", in: sys)
            try write("-10125\n", "bus/w1/devices/28-0316a2795b00/temperature", in: sys)
            try write("x", "bus/w1/devices/w1_bus_master1/w1_slave", in: sys)
            try write("x", "bus/w1/devices/01-000000000001/w1_slave", in: sys)
            let found = OneWire.sensors(in: sys)
            #expect(found.flatMap(\.quantities).map(\.name) == ["1-Wire 28-0316a2795aff", "1-Wire 28-0316a2795b00"])
            #expect(found.map { $0.sample().values } == [[25.062], [-10.125]])
        }
    }

    @Test func aThermometerThatHasMeasuredNothingTellsNothing() throws {
        #expect(try OneWire.celsius(Self.good) == 25.062)
        #expect(try OneWire.celsius(Self.good.replacing("25062", with: "85000")) == nil, "its value after power-on")
        #expect(try OneWire.celsius(Self.good.replacing("25062", with: "9999999999999999999999")) == nil)
        #expect(try OneWire.celsius(Self.good.replacing("25062", with: "")) == nil)
    }

    @Test(arguments: [
        good.replacing("YES", with: "NO"), "", "YES\n", "\n\n\n", good.replacing("t=", with: "u="),
        // A shorted bus: the checksum of zeros is right.
        "00 00 00 00 00 00 00 00 00 : crc=00 YES\n00 00 00 00 00 00 00 00 00 t=0\n",
    ])
    func bytesThatTheBusGarbledAreAFailure(_ text: String) {
        #expect(throws: ReadingError.self) { try OneWire.celsius(text) }
    }

    @Test func aThermometerThatIsGoneHasNoValueAndAReason() throws {
        try withSys { sys in
            try write("1\n", "bus/w1/devices/28-000000000001/temperature", in: sys)
            let sensor = try #require(OneWire.sensors(in: sys).first)
            try FileManager.default.removeItem(atPath: "\(sys)/bus/w1/devices/28-000000000001")
            let sample = sensor.sample()
            #expect(sample.values == [nil])
            #expect(try #require(sample.failure).contains("28-000000000001"))
        }
    }

    @Test func sensorsOfHwmon() throws {
        try withSys { sys in
            try write("nct6775\n", "class/hwmon/hwmon0/name", in: sys)
            try write("41500\n", "class/hwmon/hwmon0/temp1_input", in: sys)
            try write("SYSTIN\n", "class/hwmon/hwmon0/temp1_label", in: sys)
            try write("1200\n", "class/hwmon/hwmon0/fan2_input", in: sys)
            try write("90000\n", "class/hwmon/hwmon0/temp1_max", in: sys)
            try write("0\n", "class/hwmon/hwmon0/intrusion0_input", in: sys)
            // The same thermometer as on 1-Wire.
            try write("w1_slave_temp\n", "class/hwmon/hwmon1/name", in: sys)
            try write("20000\n", "class/hwmon/hwmon1/temp1_input", in: sys)
            let found = KernelSensors.hardwareMonitors(in: sys)
            #expect(found.flatMap(\.quantities).map(\.name) == ["nct6775 fan2", "nct6775 SYSTIN"])
            #expect(found.flatMap(\.quantities).map(\.unit) == ["rpm", "°C"])
            #expect(found.flatMap { $0.sample().values } == [1200, 41.5])
        }
    }

    @Test func sensorsOfIIO() throws {
        try withSys { sys in
            let device = "bus/iio/devices/iio:device0"
            try write("bme280\n", "\(device)/name", in: sys)
            try write("21430\n", "\(device)/in_temp_input", in: sys)
            try write("101.325000000\n", "\(device)/in_pressure_input", in: sys)
            try write("45123\n", "\(device)/in_humidityrelative_input", in: sys)
            // Raw, in an offset and a scale; a raw beside a finished one is left alone.
            try write("1023\n", "\(device)/in_voltage0_raw", in: sys)
            try write("1\n", "\(device)/in_voltage0_offset", in: sys)
            try write("2.5\n", "\(device)/in_voltage0_scale", in: sys)
            try write("7\n", "\(device)/in_temp_raw", in: sys)
            let found = KernelSensors.industrialIO(in: sys)
            let values = Dictionary(
                uniqueKeysWithValues: found.map { ($0.quantities[0].name, $0.sample().values[0]) })
            #expect(
                values == [
                    "bme280 temperature": 21.43, "bme280 pressure": 1013.25, "bme280 humidity": 45.123,
                    "bme280 voltage0": 2.56,
                ])
        }
    }

    @Test func anEmptyFolderHasNone() throws {
        try withSys { sys in
            let found = FoundSensors(sys: sys, dev: sys)
            #expect(found.sensors.isEmpty)
            #expect(found.notes.count == 5)
            #expect(found.notes.allSatisfy { $0.contains(": none in \(sys)") })
        }
    }

    /// Each is told as no value, and none keeps the reader for ever.
    @Test func hostileFiles() throws {
        try withSys { sys in
            try write(
                "chip\u{1B}[2J\n\u{202E}" + String(repeating: "x", count: 500), "class/hwmon/hwmon0/name", in: sys)
            try write("", "class/hwmon/hwmon0/temp1_input", in: sys)
            try write("nan\n", "class/hwmon/hwmon0/temp2_input", in: sys)
            try write("1e999\n", "class/hwmon/hwmon0/temp3_input", in: sys)
            try write("2147483647\n", "class/hwmon/hwmon0/temp4_input", in: sys)
            try Data((0...255).map { UInt8($0) }).write(to: URL(filePath: "\(sys)/class/hwmon/hwmon0/temp5_input"))
            let never = "\(sys)/class/hwmon/hwmon0/temp6_input"
            try FileManager.default.createSymbolicLink(atPath: never, withDestinationPath: "/dev/zero")
            #expect(mkfifo("\(sys)/class/hwmon/hwmon0/temp7_input", 0o600) == 0)
            try FileManager.default.createDirectory(
                atPath: "\(sys)/class/hwmon/hwmon0/temp8_input", withIntermediateDirectories: true)
            let found = KernelSensors.hardwareMonitors(in: sys)
            #expect(found.count == 8)
            for sensor in found {
                #expect(sensor.sample().values == [nil])
                #expect(sensor.quantities[0].name.utf8.count <= 60)
                #expect(sensor.quantities[0].name.hasPrefix("chip2Jxxx"))
            }
            #expect(try #require(found[5].sample().failure).contains("megabyte"))
        }
    }

    @Test func noMoreThanSoManyFilesOfAFolder() throws {
        try withSys { sys in
            try write("chip\n", "class/hwmon/hwmon0/name", in: sys)
            for index in 1...300 { try write("1000\n", "class/hwmon/hwmon0/temp\(index)_input", in: sys) }
            // One of the 256 is the chip's name.
            #expect(KernelSensors.hardwareMonitors(in: sys).count == 255)
        }
    }

    private func withSys(_ body: (String) throws -> Void) throws {
        let root = NSTemporaryDirectory() + "sensors-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        try body(root)
    }

    private func write(_ text: String, _ path: String, in sys: String) throws {
        let file = URL(filePath: "\(sys)/\(path)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
    }
}
