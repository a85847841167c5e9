import ElementalWire

/// Splits a stream into frames, in fixed memory. Of a value that is longer than the memory it keeps the beginning.
struct FrameReader {
    /// A complete frame.
    struct Frame {
        let id: Int8
        /// The value's bytes, as many as there is memory for, valid until the next byte is taken.
        let value: UnsafeRawBufferPointer
        /// The value's whole length.
        let length: Int
    }

    enum Step {
        case incomplete
        case frame(Frame)
        /// The frame announces a value of more than ``maximumLength`` bytes.
        case tooLong
    }

    /// The maximum length of a value, in bytes. The stream ends at a longer one.
    static let maximumLength = 65_535

    private let memory: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var headerCount = 0
    private var id: Int8 = 0
    private var length: UInt32 = 0
    private var count = 0

    /// - Parameter memory: where a frame's value is stored.
    init(memory: UnsafeMutablePointer<UInt8>, capacity: Int) {
        self.memory = memory
        self.capacity = capacity
    }

    /// Resets the reader for a new stream.
    mutating func reset() {
        headerCount = 0
        length = 0
        count = 0
    }

    mutating func take(_ byte: UInt8) -> Step {
        guard headerCount == Envelope.streamByteCount else {
            if headerCount == 0 { id = Int8(bitPattern: byte) } else { length = length >> 8 | UInt32(byte) << 24 }
            headerCount += 1
            guard headerCount == Envelope.streamByteCount else { return .incomplete }
            if length > Self.maximumLength { return .tooLong }
            return length == 0 ? complete() : .incomplete
        }
        if count < capacity { memory[count] = byte }
        count += 1
        return count == Int(length) ? complete() : .incomplete
    }

    private mutating func complete() -> Step {
        let value = UnsafeRawBufferPointer(start: memory, count: min(count, capacity))
        let frame = Frame(id: id, value: value, length: count)
        reset()
        return .frame(frame)
    }
}
