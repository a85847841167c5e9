import ElementalWire

/// How outgoing messages are framed, and how many bytes are sent together.
enum MessageFraming {
    /// 5-byte envelopes; a segment is enough to be worth one write.
    case stream
    /// 6-byte envelopes with the identifier; a segment is one datagram.
    case datagram(udpIdentifier: UInt8)

    /// Bytes before each value.
    var headerByteCount: Int {
        switch self {
        case .stream: Envelope.streamByteCount
        case .datagram: Envelope.datagramByteCount
        }
    }

    /// Bytes that are sent together: a message that would not fit starts a new segment.
    ///
    /// A datagram made of several messages fits an Ethernet frame over IPv6 with room to spare, so that batching never
    /// causes fragmentation; a longer message is sent alone.
    var segmentByteCount: Int {
        switch self {
        case .stream: 64 * 1024
        case .datagram: 1400
        }
    }

    @inline(__always)
    func writeHeader(id: Int8, length: Int, to destination: UnsafeMutableRawPointer) {
        switch self {
        case .stream:
            Envelope.writeStreamHeader(id: id, length: length, to: destination)
        case .datagram(let udpIdentifier):
            Envelope.writeDatagramHeader(id: id, length: length, udpIdentifier: udpIdentifier, to: destination)
        }
    }
}
