/// Cuts a UDP datagram into its messages.
public enum DatagramDecoder {
    /// How the end of a datagram was reached.
    public enum Result: Sendable, Equatable {
        /// Every byte belonged to a message.
        case complete
        /// Bytes were left that are no whole message: the datagram was cut off or is not of this protocol.
        case malformed
    }

    /// Hands every message of the datagram to `body`, in order.
    ///
    /// The bytes of a value are valid only during the call. A datagram stands for itself: nothing is kept for the next.
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
