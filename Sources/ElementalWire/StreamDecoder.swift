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

    /// An incomplete frame: its header and as much of the value as has come.
    @usableFromInline var partial: [UInt8] = []

    /// A decoder for one stream.
    ///
    /// - Parameter maximumValueByteCount: the longest value taken, in bytes.
    public init(maximumValueByteCount: Int) {
        self.maximumValueByteCount = maximumValueByteCount
    }

    /// How many bytes of an incomplete frame are waiting for the rest.
    public var bufferedByteCount: Int { partial.count }

    /// The identifier and length of the incomplete frame, once its header is here.
    public var pendingFrame: (id: Int8, length: Int)? {
        guard partial.count >= Envelope.streamByteCount else { return nil }
        return partial.withUnsafeBytes {
            (Int8(bitPattern: $0[0]), Envelope.length(at: $0.baseAddress.unsafelyUnwrapped))
        }
    }

    /// Takes the next bytes of the stream and hands every frame that they complete to `body`, in order.
    ///
    /// The bytes of a value are valid only during the call. A length of 0 is handed on as an empty value.
    /// - Throws: ``WireError`` with the code ``WireError/Code/valueTooLarge``; the stream cannot go on after it.
    @inlinable
    public mutating func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (_ id: Int8, _ value: UnsafeRawBufferPointer) -> Step
    ) throws(WireError) {
        var rest = bytes
        if !partial.isEmpty {
            guard let consumed = try completePartial(with: bytes, body) else { return }
            rest = UnsafeRawBufferPointer(rebasing: bytes[consumed...])
        }
        guard var cursor = rest.baseAddress else { return }
        let end = cursor + rest.count
        while end - cursor >= Envelope.streamByteCount {
            let length = Envelope.length(at: cursor)
            guard length <= maximumValueByteCount else { throw tooLarge(cursor, length) }
            let frame = Envelope.streamByteCount + length
            guard end - cursor >= frame else { break }
            let id = cursor.load(as: Int8.self)
            let value = UnsafeRawBufferPointer(start: cursor + Envelope.streamByteCount, count: length)
            cursor += frame
            if body(id, value) == .stop { return }
        }
        if cursor < end {
            partial.append(contentsOf: UnsafeRawBufferPointer(start: cursor, count: end - cursor))
        }
    }

    /// Adds to the incomplete frame and, once it is whole, hands it on.
    ///
    /// - Returns: how many bytes went into it, or `nil` if the frame is still incomplete or decoding shall stop.
    @usableFromInline
    mutating func completePartial(
        with bytes: UnsafeRawBufferPointer,
        _ body: (_ id: Int8, _ value: UnsafeRawBufferPointer) -> Step
    ) throws(WireError) -> Int? {
        var consumed = 0
        if partial.count < Envelope.streamByteCount {
            consumed = min(Envelope.streamByteCount - partial.count, bytes.count)
            partial.append(contentsOf: bytes[..<consumed])
            guard partial.count == Envelope.streamByteCount else { return nil }
        }
        let header = pendingFrame.unsafelyUnwrapped
        guard header.length <= maximumValueByteCount else {
            throw partial.withUnsafeBytes { tooLarge($0.baseAddress.unsafelyUnwrapped, header.length) }
        }
        let missing = Envelope.streamByteCount + header.length - partial.count
        let taken = min(missing, bytes.count - consumed)
        partial.append(contentsOf: bytes[consumed..<consumed + taken])
        guard taken == missing else { return nil }

        // Moved out first: the body may run for long, and what it throws away must not keep a large buffer alive.
        let frame = partial
        partial = []
        let step = frame.withUnsafeBytes {
            body(header.id, UnsafeRawBufferPointer(rebasing: $0[Envelope.streamByteCount...]))
        }
        return step == .stop ? nil : consumed + taken
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
