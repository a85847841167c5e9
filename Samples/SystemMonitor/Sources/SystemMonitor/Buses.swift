import ArgumentParser
import Elemental
import Sensors

/// What was found on this machine's buses or named on the command line, with its elements.
struct Buses: Sendable {
    private(set) var sensors: [(sensor: any Sensor, elements: [Element<Double>])] = []
    private(set) var lines: [LineElement] = []
    /// What a person should know of it at the start.
    private(set) var notes: [String] = []

    /// The models of `--i2c`. Yours goes here, or is added below if it needs no address.
    private static let models: [String: @Sendable (any Registers) throws -> any Sensor] = [
        "tmp102": TMP102.init, "bme280": BME280.init,
    ]

    init(sys: String, i2c: [String], inputs: [String], outputs: [String]) throws {
        let found = FoundSensors(sys: sys)
        notes = found.notes
        for sensor in found.sensors { add(sensor) }
        for text in i2c {
            guard let address = BusAddress(text, bus: "i2c-"), let model = Self.models[address.name] else {
                throw ValidationError("--i2c takes tmp102 or bme280, such as tmp102=i2c-1/0x48, not '\(text)'")
            }
            add(try model(I2CDevice(address)))
        }
        for (texts, isOutput) in [(inputs, false), (outputs, true)] {
            for text in texts {
                guard let address = BusAddress(text, bus: "gpiochip"), lines.count < 28 else {
                    throw ValidationError(
                        "a line is NAME=gpiochipN/LINE such as Door=gpiochip0/17, at most 28 of them, not '\(text)'")
                }
                let element = Element<Bool>(100 + lines.count, address.name, access: isOutput ? .readWrite : .read)
                lines.append(LineElement(element, try GPIOLine(address, isOutput: isOutput)))
            }
        }
    }

    private mutating func add(_ sensor: any Sensor) {
        let first = 20 + sensors.reduce(0) { $0 + $1.elements.count }
        guard first + sensor.quantities.count <= 100 else {
            if notes.last != Self.full { notes.append(Self.full) }
            return
        }
        let taken = Set(sensors.flatMap(\.elements).map(\.name))
        let elements = sensor.quantities.enumerated().map { index, quantity in
            let name = taken.contains(quantity.name) ? "\(quantity.name) #\(first + index)" : quantity.name
            return Element<Double>(
                first + index, name, unit: quantity.unit, range: quantity.range, access: .read, latest: true)
        }
        sensors.append((sensor, elements))
    }

    private static let full = "more sensors than 80 values: the rest is left out"
}
