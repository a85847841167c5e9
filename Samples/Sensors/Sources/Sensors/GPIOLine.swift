#if os(Linux)
import CLinuxDevices
import MachineReadings

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A line of a GPIO chip, by the chip's character device (Documentation/userspace-api/gpio of the kernel, version 2).
public final class GPIOLine: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Takes the line: as an output that is off, or as an input whose changes the kernel tells after 5 ms without another.
    ///
    /// - Throws: ``ReadingError`` if chip or line is absent, or another program or driver has the line.
    public init(_ address: BusAddress, isOutput: Bool, dev: String = "/dev") throws {
        path = "\(dev)/\(address.device)"
        let chip = open(path, O_RDWR | O_CLOEXEC)
        guard chip >= 0 else { throw ReadingError(errnoOf: path) }
        defer { close(chip) }
        var request = Self.request(UInt32(address.number), isOutput: isOutput)
        guard ioctl(chip, gpio_v2_get_line, &request) == 0 else { throw ReadingError(errnoOf: path) }
        descriptor = request.fd
    }

    deinit { close(descriptor) }

    static func request(_ line: UInt32, isOutput: Bool) -> gpio_v2_line_request {
        var request = gpio_v2_line_request()
        request.offsets.0 = line
        request.num_lines = 1
        withUnsafeMutableBytes(of: &request.consumer) { $0.copyBytes(from: "SystemMonitor".utf8) }
        let flags =
            isOutput
            ? [GPIO_V2_LINE_FLAG_OUTPUT]
            : [GPIO_V2_LINE_FLAG_INPUT, GPIO_V2_LINE_FLAG_EDGE_RISING, GPIO_V2_LINE_FLAG_EDGE_FALLING]
        request.config.flags = flags.reduce(0) { $0 | UInt64($1.rawValue) }
        if !isOutput {
            request.config.num_attrs = 1
            request.config.attrs.0.mask = 1
            request.config.attrs.0.attr.id = GPIO_V2_LINE_ATTR_ID_DEBOUNCE.rawValue
            request.config.attrs.0.attr.debounce_period_us = 5000
        }
        return request
    }

    public func level() throws -> Bool {
        var values = gpio_v2_line_values(bits: 0, mask: 1)
        guard ioctl(descriptor, gpio_v2_get_values, &values) == 0 else { throw ReadingError(errnoOf: path) }
        return values.bits & 1 == 1
    }

    public func set(_ level: Bool) throws {
        var values = gpio_v2_line_values(bits: level ? 1 : 0, mask: 1)
        guard ioctl(descriptor, gpio_v2_set_values, &values) == 0 else { throw ReadingError(errnoOf: path) }
    }

    /// Waits for a change, and returns the level after it. It blocks.
    public func nextLevel() throws -> Bool {
        var event = gpio_v2_line_event()
        let size = MemoryLayout<gpio_v2_line_event>.size
        while read(descriptor, &event, size) != size { guard errno == EINTR else { throw ReadingError(errnoOf: path) } }
        return event.id == GPIO_V2_LINE_EVENT_RISING_EDGE.rawValue
    }
}
#endif
