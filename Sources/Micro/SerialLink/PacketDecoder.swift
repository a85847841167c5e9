/// Finds packets in the bytes of a line, and undoes their COBS encoding byte by byte.
///
/// Garbled, inserted or lost bytes cost only the packet that they hit, and the next one if a delimiter is among them.
struct PacketDecoder {
    enum Step {
        /// The byte completes nothing.
        case incomplete
        /// A packet's body is in memory.
        case body(count: Int)
        /// A delimiter has ended bytes that are not a packet.
        case broken
    }

    let memory: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var count = 0
    /// The bytes left in the block that a code byte began.
    private var blockRest = 0
    private var endsWithZero = false
    private var isEmpty = true
    private var isTooLong = false

    init(memory: UnsafeMutablePointer<UInt8>, capacity: Int) {
        self.memory = memory
        self.capacity = capacity
    }

    mutating func take(_ byte: UInt8) -> Step {
        guard byte != 0 else { return end() }
        isEmpty = false
        if blockRest > 0 {
            blockRest -= 1
            append(byte)
        } else {
            if endsWithZero { append(0) }
            blockRest = Int(byte) - 1
            endsWithZero = byte != 255
        }
        return .incomplete
    }

    private mutating func append(_ byte: UInt8) {
        guard count < capacity else { return isTooLong = true }
        memory[count] = byte
        count += 1
    }

    private mutating func end() -> Step {
        defer {
            count = 0
            blockRest = 0
            endsWithZero = false
            isEmpty = true
            isTooLong = false
        }
        if isEmpty { return .incomplete }
        return blockRest > 0 || isTooLong ? .broken : .body(count: count)
    }
}
