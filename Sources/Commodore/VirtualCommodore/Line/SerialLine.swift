/// The cable between the Commodore's user port and a modem, or a peer in the modem's place.
///
/// The peer sends with ``send(_:)`` and reads with ``receive()``; the machine transfers the bytes in emulated time, at
/// the line's speed, 10 bits per byte. A byte that arrives while the program is not receiving is lost, as on a real
/// line, and a byte sent at a speed other than the program's arrives as garbage.
public struct SerialLine: Sendable {
    /// Counters of a line.
    public struct Statistics: Sendable, Hashable {
        /// Bytes stored in the Commodore's receive buffer.
        public internal(set) var receivedByteCount = 0
        /// Bytes lost because the receive buffer already held 255 unread ones.
        public internal(set) var overrunByteCount = 0
        /// Bytes lost because the program had not opened the line or not started to read.
        public internal(set) var unheardByteCount = 0
        /// Bytes that the Commodore sent.
        public internal(set) var sentByteCount = 0
    }

    /// The speed of the peer, in bits per second.
    public let baud: Int
    /// Data carrier detect, as the Commodore reads it: whether the peer has a connection.
    public var dcd = true
    /// Data terminal ready, which OPEN sets and CLOSE leaves as it is.
    public internal(set) var dtr = false
    /// The counters.
    public internal(set) var statistics = Statistics()

    var incoming = ByteQueue()
    var outgoing = ByteQueue()

    /// When the next bit of the byte in transit is due, in cycles; never while no byte is in transit.
    var nextBit: UInt64 = .max
    /// The remaining bits of the byte in transit.
    var bitsLeft = 0
    /// The accumulated fraction of a cycle: the length of a bit is not a whole number of cycles.
    private var remainder = 0

    /// Creates a line.
    ///
    /// - Parameter baud: the speed of the peer, clamped to 50...2400 bits per second.
    public init(baud: Int = 1200) {
        self.baud = min(max(baud, 50), 2400)
    }

    /// Bytes on their way to the Commodore, including the one in transit.
    public var pendingByteCount: Int { incoming.count }

    /// Puts bytes on the line to the Commodore.
    public mutating func send(_ bytes: some Sequence<UInt8>) { incoming.append(bytes) }

    /// Returns the bytes that the Commodore has sent since the last call.
    public mutating func receive() -> [UInt8] { outgoing.take() }

    /// Discards the bytes that have not arrived, as if the plug were pulled.
    public mutating func cut() {
        incoming.removeAll()
        rest()
    }

    /// Aborts the byte in transit, which will be sent again from its first bit.
    mutating func rest() {
        nextBit = .max
        bitsLeft = 0
    }

    /// The length of the next bit in cycles, so that consecutive bits take exactly their time in total.
    mutating func nextBitLength(cyclesPerSecond: Int) -> UInt64 {
        let total = cyclesPerSecond + remainder
        remainder = total % baud
        return UInt64(total / baud)
    }

    /// The lines that the Commodore reads at $DD01, of which bit 4 is DCD.
    var userPortInput: UInt8 { dcd ? 0xFF : 0xEF }

    /// Applies the output of port B of CIA 2: bit 2 is DTR.
    mutating func setOutputs(_ driven: UInt8) { dtr = driven & 0x04 != 0 }

    /// A byte as it is received if the two ends disagree about the length of a bit: each bit is sampled in the middle of
    /// the reader's bit.
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
