/// One direction of a simulated serial line: it keeps the order of bytes and their time, and does harm to some.
public struct FaultyLine {
    /// How likely each fault is, for each byte.
    public struct Faults: Sendable {
        public var drop: Double
        public var double: Double
        public var flip: Double
        public var insert: Double

        public init(drop: Double = 0, double: Double = 0, flip: Double = 0, insert: Double = 0) {
            self.drop = drop
            self.double = double
            self.flip = flip
            self.insert = insert
        }

        /// A line that does no harm.
        public static let none = Faults()
        /// Each fault to one byte in so many.
        public static func each(_ probability: Double) -> Faults {
            Faults(drop: probability, double: probability, flip: probability, insert: probability)
        }
    }

    /// How it harms what enters it from now on.
    public var faults = Faults.none
    /// The milliseconds that a byte is under way besides the line's own time.
    public var latency = 0
    public private(set) var byteCount = 0
    private var underWay: [(byte: UInt8, at: Int)] = []
    private var first = 0

    public init() {}

    public mutating func send(_ byte: UInt8, at now: Int, _ random: inout SeededGenerator) {
        byteCount += 1
        if random.happens(faults.drop) { return }
        let bit: UInt8 = random.happens(faults.flip) ? 1 << UInt8(random.number(0...7)) : 0
        append(byte ^ bit, now)
        if random.happens(faults.double) { append(byte ^ bit, now) }
        if random.happens(faults.insert) { append(UInt8(random.number(0...255)), now) }
    }

    /// Bytes that no end of a link has sent: a boot loader's, or a disturbance.
    public mutating func inject(_ bytes: some Sequence<UInt8>, at now: Int) { for byte in bytes { append(byte, now) } }

    private mutating func append(_ byte: UInt8, _ now: Int) { underWay.append((byte, now + latency)) }

    public mutating func receive(at now: Int) -> UInt8? {
        guard first < underWay.count, underWay[first].at <= now else { return nil }
        defer {
            first += 1
            if first > 4096 {
                underWay.removeFirst(first)
                first = 0
            }
        }
        return underWay[first].byte
    }

    public mutating func clear() {
        underWay.removeAll()
        first = 0
    }
}
