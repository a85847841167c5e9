/// One end of a reliable byte stream over a serial line, which may lose, garble, duplicate and insert bytes. While a
/// session lasts, the stream of each direction loses and duplicates nothing.
///
/// Both ends are alike. A link has no line, clock or thread of its own: the program passes every received byte to
/// ``receive(_:at:)``, calls ``tick(at:)``, and sends the bytes that ``nextByte(at:)`` or ``transmit(into:at:)``
/// return. All memory is allocated at its creation. Times are in milliseconds of any monotonic clock that wraps at
/// 2^32.
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
    /// The sizes of the link's memory.
    public struct Configuration: Sendable {
        /// The maximum length of a packet that this end receives and sends, in bytes on the line, 32...256. A packet
        /// carries 14 bytes less.
        public var packetByteCount: Int
        /// How many bytes of packets the peer may send before it waits for an acknowledgement: as many as the program
        /// can buffer of the line, at least a packet, at most 4,080. It is rounded down to a multiple of 16.
        public var windowByteCount: Int
        /// How many bytes can wait to be sent and acknowledged, 32...16,384.
        public var sendByteCount: Int

        /// Creates a configuration; its defaults are for a device that can buffer 256 bytes of the line: two packets of
        /// 128.
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

    /// The result of a received byte or of elapsed time.
    public enum Event {
        /// A session has begun: both streams begin anew, and bytes written earlier are dropped.
        case opened
        /// The next bytes of the peer's stream, valid until the next call.
        case bytes(UnsafeRawBufferPointer)
        /// The session has ended: the peer began anew, or no valid packet came from it for ``silence``.
        case closed
    }

    /// The milliseconds without a valid packet after which a session ends.
    public static var silence: UInt32 { 5000 }
    /// The milliseconds after which an end that has sent nothing sends an acknowledgement, to keep the session alive.
    static var keepAlive: UInt32 { 1000 }
    /// The milliseconds between requests for a session.
    static var openInterval: UInt32 { 250 }
    /// The minimum of session bytes in a packet, for a line that garbles many packets.
    static var leastPayloadByteCount: Int { 16 }

    let configuration: Configuration
    private let memory: UnsafeMutablePointer<UInt8>
    /// The bytes that are written and not acknowledged, as a ring buffer.
    let ring: UnsafeMutablePointer<UInt8>
    /// The packet that is being sent, with room for a delimiter in front.
    let packet: UnsafeMutablePointer<UInt8>
    var decoder: PacketDecoder

    // The session.
    var random: UInt32
    /// This end's number for the session, which the peer puts into its packets.
    var ownTag: UInt16 = 0
    /// The peer's number for the session; 0 while it is unknown.
    var peerTag: UInt16 = 0
    /// Whether a session is open.
    public internal(set) var isOpen = false
    var isOpenDue = true
    var openSentAt: UInt32 = 0
    /// When the last valid packet of the session was received.
    var heardAt: UInt32 = 0

    // Receiving.
    /// The offset of the next byte of the peer's stream.
    var expected: UInt16 = 0
    var isAcknowledgementDue = false
    var isRepetitionDue = false

    // Sending. Offsets count the stream's bytes modulo 2^16.
    /// The index in the ring of the oldest unacknowledged byte.
    var head = 0
    /// The bytes in the ring.
    var used = 0
    /// The offset of the oldest unacknowledged byte.
    var oldest: UInt16 = 0
    /// The offset of the next byte to send, and the end of all bytes ever sent.
    var next: UInt16 = 0
    var furthest: UInt16 = 0
    /// The ends of the packets in flight, oldest first.
    var ends = PacketEnds()
    var peerWindow = 0
    var peerPayloadByteCount = 0
    /// The current number of session bytes in a packet: fewer after a loss.
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
    /// Whether the line may hold stray bytes, which a delimiter has to end.
    var isDelimiterDue = true
    var sentAt: UInt32 = 0

    /// The number of garbled packets received, modulo 2^32.
    public internal(set) var brokenPacketCount: UInt32 = 0
    /// The number of packets that this end sent again, modulo 2^32.
    public internal(set) var repeatedPacketCount: UInt32 = 0

    /// Whether the program accepts bytes. While it does not, the link announces a window of 0 and drops received bytes,
    /// which the peer repeats later.
    public var isReceiving = true {
        didSet { if isReceiving != oldValue { isAcknowledgementDue = true } }
    }

    /// Creates an end without a session, which requests one.
    ///
    /// - Parameters:
    ///   - configuration: the sizes of its memory. Values outside their ranges are clamped.
    ///   - seed: a number that differs from the one at the last start, from a source of randomness or a counter that
    ///     survives a reset. It distinguishes packets from before a reset, which a driver may still hold.
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

    /// The number of bytes that can be written now; 0 without a session.
    public var room: Int { isOpen ? configuration.sendByteCount - used : 0 }

    /// Whether all that was written has been acknowledged.
    public var isIdle: Bool { used == 0 }

    /// Adds bytes to the stream to the peer, as many as there is room for.
    ///
    /// - Returns: the number of bytes added.
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

    /// Ends the session, if there is one, and requests another.
    public mutating func restart() {
        close()
        peerTag = 0
    }
}
