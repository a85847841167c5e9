/// The bytes before a value: `id Int8 · length UInt32`, and in a datagram `udpIdentifier UInt8` after them.
///
/// Source: frames recorded from the ElementalController implementation of 2019-2021 (Tests' `vectors.json`).
public enum Envelope {
    /// Bytes before a value in a TCP stream.
    public static let streamByteCount = 5
    /// Bytes before a value in a UDP datagram.
    public static let datagramByteCount = 6
    /// The largest payload of a UDP datagram over IPv4, in bytes (65,535 less the IP and UDP headers).
    public static let maximumDatagramByteCount = 65_507
    /// The largest value that fits a datagram, in bytes.
    public static let maximumDatagramValueByteCount = maximumDatagramByteCount - datagramByteCount

    /// The longest value that an envelope can announce, in bytes: the length has 32 bits.
    @inlinable public static var maximumValueByteCount: Int { Int(clamping: UInt32.max) }

    /// The longest value that is sent in one envelope to a peer that accepts pieces, in bytes.
    package static let wholeByteCount = 128 * 1024

    /// Writes the 5 bytes that precede a value in a stream.
    ///
    /// - Precondition: the length is not above ``maximumValueByteCount``.
    @inlinable
    public static func writeStreamHeader(id: Int8, length: Int, to destination: UnsafeMutableRawPointer) {
        destination.storeBytes(of: id, as: Int8.self)
        destination.storeBytes(of: UInt32(length).littleEndian, toByteOffset: 1, as: UInt32.self)
    }

    /// Writes the 6 bytes that precede a value in a datagram.
    ///
    /// - Precondition: the length is not above ``maximumValueByteCount``.
    @inlinable
    public static func writeDatagramHeader(
        id: Int8, length: Int, udpIdentifier: UInt8, to destination: UnsafeMutableRawPointer
    ) {
        writeStreamHeader(id: id, length: length, to: destination)
        destination.storeBytes(of: udpIdentifier, toByteOffset: 5, as: UInt8.self)
    }

    /// Reads the length from the header at `bytes`, which has at least 5 bytes.
    @inlinable
    static func length(at bytes: UnsafeRawPointer) -> Int {
        Int(clamping: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    }
}

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

/// Splits a TCP stream into frames, however the network fragments it.
///
/// It has no socket and no thread. A frame that is complete in the given bytes is passed on without a copy. A frame
/// that is split between reads is stored, as far as the receiver wants to keep it. Memory grows with the bytes that
/// have arrived, never with what a header announces.
public struct StreamDecoder: ~Copyable {
    /// The next step that the receiver of a frame wants.
    public enum Step: Sendable {
        /// Go on with the next frame.
        case next
        /// Stop: ignore the rest of the bytes (the connection is closing).
        case stop
    }

    /// The longest value accepted, in bytes; a header that announces more ends the stream with an error. System
    /// elements, those below 0, may have up to 1 MiB in any case.
    public let maximumValueByteCount: Int

    /// The header of an incomplete frame, as much of it as has arrived.
    @usableFromInline var header: (UInt64, count: Int) = (0, 0)
    /// How many bytes of the incomplete frame's value have arrived, stored or not.
    private var arrivedByteCount = 0
    /// How many of its first bytes to store; `nil` until the receiver has decided.
    private var keptByteCount: Int?
    /// Whether the incomplete frame is dropped as it arrives and not passed on.
    private var isLeftOut = false
    /// The stored bytes.
    private var value = GatheredBytes()

    /// A decoder for one stream.
    ///
    /// - Parameter maximumValueByteCount: the longest value accepted, in bytes.
    public init(maximumValueByteCount: Int) {
        self.maximumValueByteCount = maximumValueByteCount
    }

    /// How many bytes of an incomplete frame are stored.
    public var bufferedByteCount: Int { header.count + value.count }

    /// The identifier and length of the incomplete frame, once its header is here.
    public var pendingFrame: (id: Int8, length: Int)? {
        guard header.count == Envelope.streamByteCount else { return nil }
        return withUnsafeBytes(of: header.0) {
            (Int8(bitPattern: $0[0]), Envelope.length(at: $0.baseAddress.unsafelyUnwrapped))
        }
    }

    /// Drops what is stored of an incomplete value and the rest of it as it arrives; it is never passed on. Frames of the
    /// system are kept.
    ///
    /// - Returns: the value's element and announced length, or `nil` if nothing of a value is stored.
    public mutating func leaveOut() -> (id: Int8, length: Int)? {
        guard value.count > 0, let frame = pendingFrame, frame.id >= 0 else { return nil }
        value = GatheredBytes()
        keptByteCount = 0
        isLeftOut = true
        return frame
    }

    /// Takes the next bytes of the stream and calls `body` with every frame that they complete, in order.
    ///
    /// The bytes of a value are valid only during the call. A length of 0 is an empty value.
    /// - Parameters:
    ///   - keeping: how many bytes to store of a value that arrives in more than one read, called once for each. The
    ///     rest is dropped as it arrives, and `body` gets the value's first bytes when the last byte has arrived.
    ///   - body: gets a value's identifier and bytes; a long value that was split between reads can be stored without a
    ///     copy (``ReceivedBytes/long``).
    /// - Throws: ``WireError`` with the code ``WireError/Code/valueTooLarge``; the stream cannot go on after it.
    @inlinable
    public mutating func decode(
        _ bytes: UnsafeRawBufferPointer,
        keeping: (_ id: Int8, _ length: Int) -> Int = { _, length in length },
        _ body: (_ id: Int8, _ value: ReceivedBytes) -> Step
    ) throws(WireError) {
        guard var cursor = bytes.baseAddress else { return }
        let end = cursor + bytes.count
        if header.count > 0 {
            guard let rest = try completeFrame(with: cursor, end, keeping, body) else { return }
            cursor = rest
        }
        while end - cursor >= Envelope.streamByteCount {
            let length = Envelope.length(at: cursor)
            guard length <= maximumValueByteCount || isSystemFrame(cursor, length) else {
                throw tooLarge(cursor, length)
            }
            let frame = Envelope.streamByteCount + length
            guard end - cursor >= frame else { break }
            let id = cursor.load(as: Int8.self)
            let value = UnsafeRawBufferPointer(start: cursor + Envelope.streamByteCount, count: length)
            cursor += frame
            if body(id, ReceivedBytes(value)) == .stop { return }
        }
        if cursor < end { _ = try completeFrame(with: cursor, end, keeping, body) }
    }

    /// Adds to the incomplete frame, or begins one, and passes it on once it is complete.
    ///
    /// - Returns: where the rest of the bytes begins, or `nil` if the frame is incomplete or decoding is to stop.
    @usableFromInline
    mutating func completeFrame(
        with bytes: UnsafeRawPointer, _ end: UnsafeRawPointer, _ keeping: (_ id: Int8, _ length: Int) -> Int,
        _ body: (_ id: Int8, _ value: ReceivedBytes) -> Step
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
        guard
            frame.length <= maximumValueByteCount || frame.id < 0 && frame.length <= SystemElement.maximumFrameByteCount
        else {
            throw withUnsafeBytes(of: header.0) { tooLarge($0.baseAddress.unsafelyUnwrapped, frame.length) }
        }
        if arrivedByteCount == 0, end - cursor >= frame.length {
            // Only the header was split.
            header.count = 0
            keptByteCount = nil
            let value = UnsafeRawBufferPointer(start: cursor, count: frame.length)
            return body(frame.id, ReceivedBytes(value)) == .stop ? nil : cursor + frame.length
        }
        let kept = keptByteCount ?? max(0, min(frame.length, keeping(frame.id, frame.length)))
        keptByteCount = kept
        let taken = min(frame.length - arrivedByteCount, end - cursor)
        value.append(cursor, min(taken, kept - value.count), of: kept)
        arrivedByteCount += taken
        cursor += taken
        guard arrivedByteCount == frame.length else { return nil }
        header.count = 0
        arrivedByteCount = 0
        keptByteCount = nil
        if isLeftOut {
            isLeftOut = false
            return cursor
        }
        return value.handOver { body(frame.id, $0) } == .stop ? nil : cursor
    }

    /// Whether the frame is a system element, whose length may exceed the limit for values.
    @usableFromInline
    func isSystemFrame(_ header: UnsafeRawPointer, _ length: Int) -> Bool {
        header.load(as: Int8.self) < 0 && length <= SystemElement.maximumFrameByteCount
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
