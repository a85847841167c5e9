#if !os(Linux)
import MachineReadings

// So that the sample compiles elsewhere: there it has neither of these.
public final class I2CDevice: Registers {
    public init(_ address: BusAddress, dev: String = "/dev") throws {
        throw ReadingError(dev, "only Linux has I²C here")
    }
    public func read(_ count: Int, from register: UInt8) throws -> [UInt8] { [] }
    public func write(_ byte: UInt8, to register: UInt8) throws {}
}

public final class GPIOLine: Sendable {
    public init(_ address: BusAddress, isOutput: Bool, dev: String = "/dev") throws {
        throw ReadingError(dev, "only Linux has GPIO here")
    }
    public func level() throws -> Bool { false }
    public func set(_ level: Bool) throws {}
    public func nextLevel() throws -> Bool { false }
}
#endif
