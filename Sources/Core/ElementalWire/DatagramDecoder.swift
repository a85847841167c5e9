/// Splits a UDP datagram into its messages.
public enum DatagramDecoder {
    /// How the end of a datagram was reached.
    public enum Result: Sendable, Equatable {
        /// Every byte belonged to a message.
        case complete
        /// The remaining bytes are not a whole message: the datagram is truncated or of another protocol.
        case malformed
    }

    /// Calls `body` with every message of the datagram, in order.
    ///
    /// The bytes of a value are valid only during the call. No state is kept between datagrams.
    @inlinable
    public static func decode(
        _ datagram: UnsafeRawBufferPointer,
        _ body: (_ id: Int8, _ udpIdentifier: UInt8, _ value: UnsafeRawBufferPointer) -> Void
    ) -> Result {
        guard var cursor = datagram.baseAddress else { return .malformed }
        let end = cursor + datagram.count
        while end - cursor >= Envelope.datagramByteCount {
            let length = Envelope.length(at: cursor)
            guard end - cursor - Envelope.datagramByteCount >= length else { return .malformed }
            body(
                cursor.load(as: Int8.self),
                cursor.load(fromByteOffset: 5, as: UInt8.self),
                UnsafeRawBufferPointer(start: cursor + Envelope.datagramByteCount, count: length)
            )
            cursor += Envelope.datagramByteCount + length
        }
        return cursor == end && datagram.count > 0 ? .complete : .malformed
    }
}
