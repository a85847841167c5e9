import ElementalWire

/// Splits the bytes that arrive before the session into admission messages, within bounds.
package struct AdmissionReader {
    /// The maximum number of bytes that a peer may send before it is admitted.
    package static let maximumByteCount = 8 * 1024

    private var buffer: [UInt8] = []
    /// The number of bytes in the messages that were read.
    private var readByteCount = 0

    mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer += bytes }

    /// Returns the next message, or `nil` while it is incomplete.
    ///
    /// - Throws: ``AdmissionRefusal`` if the bytes are not a message, or are too many.
    mutating func next() throws(AdmissionRefusal) -> AdmissionMessage? {
        guard let length = try frameByteCount(), buffer.count >= length else {
            try checkByteCount()
            return nil
        }
        readByteCount += length
        guard readByteCount <= Self.maximumByteCount else { throw .malformed }
        let frame = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        return try frame.withUnsafeBytes { frame in
            Result { () throws(AdmissionRefusal) in
                try AdmissionMessage(wireBytes: UnsafeRawBufferPointer(rebasing: frame[Envelope.streamByteCount...]))
            }
        }.get()
    }

    /// - Throws: ``AdmissionRefusal/Code/malformed`` if the peer has sent too many bytes.
    func checkByteCount() throws(AdmissionRefusal) {
        guard readByteCount + buffer.count <= Self.maximumByteCount else { throw .malformed }
    }

    /// The size of the next frame in bytes, once its header has arrived. Refuses every element except admission at
    /// once.
    private func frameByteCount() throws(AdmissionRefusal) -> Int? {
        guard let id = buffer.first else { return nil }
        guard Int8(bitPattern: id) == SystemElement.admission.rawValue else { throw .malformed }
        guard buffer.count >= Envelope.streamByteCount else { return nil }
        let length = buffer[1..<Envelope.streamByteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= AdmissionMessage.maximumFrameByteCount - Envelope.streamByteCount else { throw .malformed }
        return Envelope.streamByteCount + length
    }

    /// Returns the bytes after the last admission message: the session's first bytes.
    mutating func takeRemainder() -> [UInt8] {
        defer { buffer = [] }
        return buffer
    }
}
