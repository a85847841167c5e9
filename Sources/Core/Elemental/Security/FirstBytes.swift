/// What the first bytes of a connection say about it. No sockets, no timers.
enum FirstBytes: Equatable {
    /// A TLS ClientHello.
    case tls
    /// The plain protocol, or something that is neither.
    case plain
    /// So far they could begin a ClientHello.
    case undecided

    /// A ClientHello is recognised by this many bytes: the header of a TLS record (RFC 8446, 5.1), and the type of its
    /// first message. Two bytes would not be enough: `16 03 00 00 00` is a valid frame of element 22.
    private static let byteCount = 6
    private static let maximumRecordByteCount = 16_384

    init(_ bytes: some Collection<UInt8>) {
        self = .undecided
        var length = 0
        for (position, byte) in bytes.prefix(Self.byteCount).enumerated() {
            let isPossible =
                switch position {
                case 0: byte == 0x16
                case 1: byte == 3
                case 2: (1...4).contains(byte)
                case 3: byte <= Self.maximumRecordByteCount >> 8
                case 4: (1...Self.maximumRecordByteCount).contains(length << 8 | Int(byte))
                default: byte == 1
                }
            guard isPossible else {
                self = .plain
                return
            }
            if position == 3 { length = Int(byte) }
        }
        if bytes.count >= Self.byteCount { self = .tls }
    }
}
