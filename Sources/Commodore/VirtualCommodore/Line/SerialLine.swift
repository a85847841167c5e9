/// The cable between the Commodore's user port and whatever is in the modem's place.
///
/// Outside, bytes are put in with ``send(_:)`` and taken out with ``receive()``; the machine moves them in its own
/// time, at the line's speed, 10 bits a byte. A byte that comes while the program does not listen is lost, as on a
/// real line, and one sent at another speed than the program's arrives as garbage.
public struct SerialLine: Sendable {
    /// What happened on the line so far.
    public struct Statistics: Sendable, Hashable {
        /// Bytes that the Commodore put into its receive buffer.
        public internal(set) var receivedByteCount = 0
        /// Bytes lost because the receive buffer already held 255 unread ones.
        public internal(set) var overrunByteCount = 0
        /// Bytes lost because the program had not opened the line or not begun to read.
        public internal(set) var unheardByteCount = 0
        /// Bytes that the Commodore sent.
        public internal(set) var sentByteCount = 0
    }

    /// The speed of what is outside, in bits a second.
    public let baud: Int
    /// Data carrier detect, as the Commodore reads it: whether the other end has a connection.
    public var dcd = true
    /// Data terminal ready, which OPEN sets and CLOSE leaves as it is.
    public internal(set) var dtr = false
    /// What happened so far.
    public internal(set) var statistics = Statistics()

    var incoming = ByteQueue()
    var outgoing = ByteQueue()

    /// When the next bit of the byte in transit is due, in cycles; never while no byte is in transit.
    var nextBit: UInt64 = .max
    /// The bits of the byte under way that are still to come.
    var bitsLeft = 0
    /// What is left over of the length of a bit, in parts of a cycle: bits take no whole number of them.
    private var remainder = 0

    /// A line.
    ///
    /// - Parameter baud: the speed of what is outside, 50 to 2400 bits a second. Others are set to the nearest of
    ///   these.
    public init(baud: Int = 1200) {
        self.baud = min(max(baud, 50), 2400)
    }

    /// Bytes on their way to the Commodore, the one that is being moved included.
    public var pendingByteCount: Int { incoming.count }

    /// Puts bytes on the line to the Commodore.
    public mutating func send(_ bytes: some Sequence<UInt8>) { incoming.append(bytes) }

    /// Takes what the Commodore has sent since the last time.
    public mutating func receive() -> [UInt8] { outgoing.take() }

    /// Takes back what has not arrived, as when the plug is pulled.
    public mutating func cut() {
        incoming.removeAll()
        rest()
    }

    /// Aborts the byte in transit, which will be sent again from its first bit.
    mutating func rest() {
        nextBit = .max
        bitsLeft = 0
    }

    /// The length of the next bit in cycles, so that many bits in a row take exactly their time.
    mutating func nextBitLength(cyclesPerSecond: Int) -> UInt64 {
        let total = cyclesPerSecond + remainder
        remainder = total % baud
        return UInt64(total / baud)
    }

    /// The lines that the Commodore reads at $DD01, of which bit 4 is DCD.
    var userPortInput: UInt8 { dcd ? 0xFF : 0xEF }

    /// Takes over what port B of CIA 2 drives: bit 2 is DTR.
    mutating func setOutputs(_ driven: UInt8) { dtr = driven & 0x04 != 0 }

    /// A byte as it is read when the two ends disagree about the length of a bit: each bit is read in the middle of
    /// the reader's own.
    ///
    /// - Parameters:
    ///   - sent: the length of the sender's bits.
    ///   - read: the length of the reader's bits, in the same unit.
    static func sample(_ byte: UInt8, sent: Double, read: Double) -> UInt8 {
        // A start bit, 8 data bits from the lowest, then stop bits for as long as nothing follows.
        let frame = UInt32(byte) << 1 | ~UInt32(0x1FF)
        var result: UInt8 = 0
        for bit in 0..<8 {
            let position = min(Int((Double(bit) + 1.5) * read / sent), 31)
            result |= UInt8(frame >> UInt32(position) & 1) << UInt8(bit)
        }
        return result
    }
}
