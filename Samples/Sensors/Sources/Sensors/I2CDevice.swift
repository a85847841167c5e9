import MachineReadings

#if os(Linux)
import CLinuxDevices

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A device on an I²C bus, by the bus's character device (Documentation/i2c/dev-interface.rst of the kernel).
///
/// Nothing is probed: only the address that a person named is talked to, since reading changes some devices.
public final class I2CDevice: Registers {
    public let path: String
    private let descriptor: Int32

    /// - Throws: ``ReadingError`` if the bus is absent, or the address is not 0x08 to 0x77 or has a driver of the kernel.
    public init(_ address: BusAddress, dev: String = "/dev") throws {
        path = "\(dev)/\(address.device)"
        guard (0x08...0x77).contains(address.number) else { throw ReadingError(path, "addresses are 0x08 to 0x77") }
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw ReadingError(errnoOf: path) }
        guard ioctl(descriptor, i2c_slave, Int32(address.number)) == 0 else {
            let error = ReadingError(errnoOf: path)
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    public func read(_ count: Int, from register: UInt8) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard writeBytes(descriptor, [register]), readBytes(descriptor, &bytes) else {
            throw ReadingError(errnoOf: path)
        }
        return bytes
    }

    public func write(_ byte: UInt8, to register: UInt8) throws {
        guard writeBytes(descriptor, [register, byte]) else { throw ReadingError(errnoOf: path) }
    }
}

private func readBytes(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Bool {
    read(descriptor, &bytes, bytes.count) == bytes.count
}

private func writeBytes(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    write(descriptor, bytes, bytes.count) == bytes.count
}
#endif

/// Registers that a device has, a byte's address each.
public protocol Registers: Sendable {
    /// As many bytes as asked for, from the register on.
    func read(_ count: Int, from register: UInt8) throws -> [UInt8]
    func write(_ byte: UInt8, to register: UInt8) throws
}
