#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// Cuts a TCP stream into frames, however the network splits and joins them.
///
/// It has no socket and no thread. A frame that lies whole in the bytes given is handed on without a copy; only one
/// that is split between reads is gathered, and memory grows with what has arrived, never with what a header claims.
public struct StreamDecoder: ~Copyable {
    /// What the receiver of a frame wants next.
    public enum Step: Sendable {
        /// Go on with the next frame.
        case next
        /// Stop: the rest of the bytes is of no interest (the connection is closing).
        case stop
    }

    /// The longest value taken, in bytes; a header that announces more ends the stream with an error.
    public let maximumValueByteCount: Int

    /// The header of an incomplete frame, as much of it as has come, or all of it.
    @usableFromInline var header: (UInt64, count: Int) = (0, 0)
    /// As much of the incomplete frame's value as has come.
    private var value = GatheredBytes()

    /// A decoder for one stream.
    ///
    /// - Parameter maximumValueByteCount: the longest value taken, in bytes.
    public init(maximumValueByteCount: Int) {
        self.maximumValueByteCount = maximumValueByteCount
    }

    /// How many bytes of an incomplete frame are waiting for the rest.
    public var bufferedByteCount: Int { header.count + value.count }

    /// The identifier and length of the incomplete frame, once its header is here.
    public var pendingFrame: (id: Int8, length: Int)? {
        guard header.count == Envelope.streamByteCount else { return nil }
        return withUnsafeBytes(of: header.0) {
            (Int8(bitPattern: $0[0]), Envelope.length(at: $0.baseAddress.unsafelyUnwrapped))
        }
    }

    /// Takes the next bytes of the stream and hands every frame that they complete to `body`, in order.
    ///
    /// The bytes of a value are valid only during the call. A length of 0 is handed on as an empty value.
    /// - Parameter body: gets a value's identifier and bytes; of a long one that came in pieces they can be kept
    ///   (``ReceivedBytes/long``).
    /// - Throws: ``WireError`` with the code ``WireError/Code/valueTooLarge``; the stream cannot go on after it.
    @inlinable
    public mutating func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (_ id: Int8, _ value: ReceivedBytes) -> Step
    ) throws(WireError) {
        guard var cursor = bytes.baseAddress else { return }
        let end = cursor + bytes.count
        if header.count > 0 {
            guard let rest = try completeFrame(with: cursor, end, body) else { return }
            cursor = rest
        }
        while end - cursor >= Envelope.streamByteCount {
            let length = Envelope.length(at: cursor)
            guard length <= maximumValueByteCount else { throw tooLarge(cursor, length) }
            let frame = Envelope.streamByteCount + length
            guard end - cursor >= frame else { break }
            let id = cursor.load(as: Int8.self)
            let value = UnsafeRawBufferPointer(start: cursor + Envelope.streamByteCount, count: length)
            cursor += frame
            if body(id, ReceivedBytes(value)) == .stop { return }
        }
        if cursor < end { _ = try completeFrame(with: cursor, end, body) }
    }

    /// Adds to the incomplete frame, or begins one, and hands it on once it is whole.
    ///
    /// - Returns: where the rest of the bytes begins, or `nil` if the frame is incomplete or decoding shall stop.
    @usableFromInline
    mutating func completeFrame(
        with bytes: UnsafeRawPointer, _ end: UnsafeRawPointer, _ body: (_ id: Int8, _ value: ReceivedBytes) -> Step
    ) throws(WireError) -> UnsafeRawPointer? {
        var cursor = bytes
        if header.count < Envelope.streamByteCount {
            let taken = min(Envelope.streamByteCount - header.count, end - cursor)
            withUnsafeMutableBytes(of: &header.0) { [count = header.count] header in
                (header.baseAddress.unsafelyUnwrapped + count).copyMemory(from: cursor, byteCount: taken)
            }
            header.count += taken
            cursor += taken
        }
        guard let frame = pendingFrame else { return nil }
        guard frame.length <= maximumValueByteCount else {
            throw withUnsafeBytes(of: header.0) { tooLarge($0.baseAddress.unsafelyUnwrapped, frame.length) }
        }
        let taken = min(frame.length - value.count, end - cursor)
        value.append(cursor, taken, of: frame.length)
        cursor += taken
        guard value.count == frame.length else { return nil }
        header.count = 0
        return value.handOver { body(frame.id, $0) } == .stop ? nil : cursor
    }

    @usableFromInline
    func tooLarge(_ header: UnsafeRawPointer, _ length: Int) -> WireError {
        WireError(
            .valueTooLarge,
            "element \(header.load(as: Int8.self)) announces a value of \(length) bytes; "
                + "the limit is \(maximumValueByteCount)"
        )
    }
}
