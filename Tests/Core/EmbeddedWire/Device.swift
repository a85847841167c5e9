import ElementalWire

/// What a program on a device does with the wire: its elements are told, a value is taken and one is sent.
///
/// Compiled, not run: for what it needs of the device's libraries, and for its size.
struct Device: ~Copyable {
    private var decoder = StreamDecoder(maximumValueByteCount: 64)
    private(set) var brightness: Float = 0

    /// The bytes of the frame that tells the elements.
    var catalogueFrame: [UInt8] {
        let value = Lamp.all.wireBytes
        return Self.header(SystemElement.catalogue.rawValue, value.count) + value
    }

    /// Takes bytes from the line.
    ///
    /// - Returns: the frames to answer with, or `nil` if the line cannot be understood any more.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var answer: [UInt8] = []
        var brightness = self.brightness
        do throws(WireError) {
            try decoder.decode(bytes) { id, value in
                if id == Lamp.brightness.id, let new = Float(received: value), Lamp.brightness.allows(new) {
                    brightness = new
                    answer += Self.frame(new, Lamp.brightness)
                }
                return .next
            }
        } catch {
            return nil
        }
        self.brightness = brightness
        return answer
    }

    static func frame<Value>(_ value: Value, _ element: Element<Value>) -> [UInt8] {
        var frame = header(element.id, value.wireByteCount)
        frame += [UInt8](repeating: 0, count: value.wireByteCount)
        frame.withUnsafeMutableBytes { frame in
            _ = value.write(to: UnsafeMutableRawBufferPointer(rebasing: frame[Envelope.streamByteCount...]))
        }
        return frame
    }

    static func header(_ id: Int8, _ length: Int) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: Envelope.streamByteCount)
        header.withUnsafeMutableBytes { header in
            guard let base = header.baseAddress else { return }
            Envelope.writeStreamHeader(id: id, length: length, to: base)
        }
        return header
    }
}

nonisolated(unsafe) private var device = Device()

/// What a C program of the device calls with what came.
@_cdecl("device_take")
public func take(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    device.take(UnsafeRawBufferPointer(start: bytes, count: count))?.count ?? device.catalogueFrame.count
}
