/// One end of a serial line that loses, garbles, doubles and inserts bytes: a stream of bytes each way that loses and
/// doubles nothing as long as a session lasts.
///
/// Both ends are alike. It has no line, no clock and no thread: the program gives it every byte that came and calls
/// ``tick(at:)``, and sends the bytes that ``nextByte(at:)`` or ``transmit(into:at:)`` give. All memory is taken when it
/// is created. Times are in milliseconds of any clock that counts on steadily and wraps at 2^32.
///
/// ```swift
/// var link = SerialLink(seed: 7)
/// while true {
///     while let byte = uart.read() {
///         switch link.receive(byte, at: clock.now) {
///         case .opened: …                  // a new session: both streams begin anew
///         case .bytes(let bytes): …        // valid until the next call
///         case .closed, nil: break
///         }
///     }
///     if case .closed = link.tick(at: clock.now) { … }
///     while uart.canWrite, let byte = link.nextByte(at: clock.now) { uart.write(byte) }
/// }
/// ```
public struct SerialLink: ~Copyable {
    /// What the end has memory for.
    public struct Configuration: Sendable {
        /// The longest packet on the line that this end takes and sends, in bytes, 32...256. A packet carries 14 less.
        public var packetByteCount: Int
        /// How many bytes of packets the other end may send before it waits for an acknowledgement: what the program can
        /// hold of the line, at least a packet, at most 4,080. A multiple of 16; what is above one is not used.
        public var windowByteCount: Int
        /// How many bytes can wait to be sent and acknowledged, 32...16,384.
        public var sendByteCount: Int

        /// The default is for a device that can hold 256 bytes of the line: two packets of 128.
        public init(packetByteCount: Int = 128, windowByteCount: Int = 256, sendByteCount: Int = 256) {
            self.packetByteCount = packetByteCount
            self.windowByteCount = windowByteCount
            self.sendByteCount = sendByteCount
        }

        /// The bytes that a link of this configuration allocates when it is created.
        public var memoryByteCount: Int {
            // A body has two bytes less than its packet; a packet may have a delimiter in front.
            packetByteCount - Packet.framingByteCount + packetByteCount + 1 + sendByteCount
        }
    }

    /// What came of a byte or of time.
    public enum Event {
        /// A session has begun: both streams begin anew, and whatever was written earlier is dropped.
        case opened
        /// The next bytes of the other end's stream, valid until the next call.
        case bytes(UnsafeRawBufferPointer)
        /// The session has ended: the other end began anew, or nothing was heard from it for ``silence``.
        case closed
    }

    /// The milliseconds without a valid packet after which a session ends.
    public static var silence: UInt32 { 5000 }
    /// The milliseconds after which an end that has sent nothing lets the other one hear from it.
    static var keepAlive: UInt32 { 1000 }
    /// The milliseconds between requests for a session.
    static var openInterval: UInt32 { 250 }
    /// The session's bytes in a packet on a line that garbles many.
    static var leastPayloadByteCount: Int { 16 }

    let configuration: Configuration
    private let memory: UnsafeMutablePointer<UInt8>
    /// The bytes that are written and not acknowledged, as a ring.
    let ring: UnsafeMutablePointer<UInt8>
    /// The packet that is being sent, with room for a delimiter in front.
    let packet: UnsafeMutablePointer<UInt8>
    var decoder: PacketDecoder

    // The session.
    var random: UInt32
    /// This end's number for the session, which the other puts into its packets.
    var ownTag: UInt16 = 0
    /// The other end's, 0 while it is unknown.
    var peerTag: UInt16 = 0
    /// Whether a session is open.
    public internal(set) var isOpen = false
    var isOpenDue = true
    var openSentAt: UInt32 = 0
    /// When a valid packet of the session was received.
    var heardAt: UInt32 = 0

    // The way in.
    /// The offset of the next byte of the other end's stream.
    var expected: UInt16 = 0
    var isAcknowledgementDue = false
    var isRepetitionDue = false

    // The way out. Offsets count the stream's bytes modulo 2^16.
    /// Where in the ring the oldest unacknowledged byte is.
    var head = 0
    /// The bytes in the ring.
    var used = 0
    /// The offset of the oldest unacknowledged byte.
    var oldest: UInt16 = 0
    /// The offset of the next byte to send, and the end of what was ever sent.
    var next: UInt16 = 0
    var furthest: UInt16 = 0
    /// The ends of the packets in flight, oldest first.
    var ends = PacketEnds()
    var peerWindow = 0
    var peerPayloadByteCount = 0
    /// The bytes that a packet carries at present: fewer after a loss.
    var payloadByteCount = 0
    /// The packets acknowledged since the size last changed.
    var cleanCount = 0
    var roundTrip = RoundTrip()
    /// The packet that is timed: the offset of its end, and when it was sent.
    var timed: (end: UInt16, at: UInt32)?
    /// When the oldest packet in flight was sent, or the last was acknowledged.
    var waitingSince: UInt32 = 0
    /// When the sender last went back to ``oldest``, if nothing was acknowledged since.
    var wentBackAt: UInt32?

    // The packet that is being sent.
    var packetPosition = 0
    var packetEnd = 0
    /// Whether the line may hold bytes that a delimiter has to end.
    var isDelimiterDue = true
    var sentAt: UInt32 = 0

    /// The packets that came garbled, modulo 2^32.
    public internal(set) var brokenPacketCount: UInt32 = 0
    /// The packets that this end sent again, modulo 2^32.
    public internal(set) var repeatedPacketCount: UInt32 = 0

    /// Whether the program takes bytes. While it does not, what comes is left for the other end to repeat, and it is told
    /// to wait.
    public var isReceiving = true {
        didSet { if isReceiving != oldValue { isAcknowledgementDue = true } }
    }

    /// An end without a session, which asks for one.
    ///
    /// - Parameters:
    ///   - configuration: what it has memory for. Values outside their ranges are moved into them.
    ///   - seed: a number that differs from the one at the last start, from a source of randomness or a counter that
    ///     survives a reset. With it packets from before a reset, which a driver may still hold, are told apart.
    public init(_ configuration: Configuration = Configuration(), seed: UInt32) {
        var fitting = configuration
        fitting.packetByteCount = min(max(configuration.packetByteCount, 32), 256)
        fitting.sendByteCount = min(max(configuration.sendByteCount, 32), 16_384)
        fitting.windowByteCount = min(max(configuration.windowByteCount, fitting.packetByteCount), 4080)
        self.configuration = fitting
        memory = .allocate(capacity: fitting.memoryByteCount)
        let bodyByteCount = fitting.packetByteCount - Packet.framingByteCount
        decoder = PacketDecoder(memory: memory, capacity: bodyByteCount)
        packet = memory + bodyByteCount
        ring = packet + fitting.packetByteCount + 1
        var random = seed ^ 0x9E37_79B9
        ownTag = Self.tag(after: 0, &random)
        self.random = random
    }

    deinit { memory.deallocate() }

    /// How many bytes can be written now; 0 without a session.
    public var room: Int { isOpen ? configuration.sendByteCount - used : 0 }

    /// Whether all that was written has been acknowledged.
    public var isIdle: Bool { used == 0 }

    /// Adds bytes to the stream to the other end, as many as there is room for.
    ///
    /// - Returns: how many were taken.
    public mutating func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, room)
        var index = head + used
        if index >= configuration.sendByteCount { index -= configuration.sendByteCount }
        for offset in 0..<count {
            ring[index] = bytes[offset]
            index += 1
            if index == configuration.sendByteCount { index = 0 }
        }
        used += count
        return count
    }

    /// Ends the session, if there is one, and asks for another.
    public mutating func restart() {
        close()
        peerTag = 0
    }
}
