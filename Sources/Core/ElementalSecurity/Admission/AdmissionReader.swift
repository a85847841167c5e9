import ElementalWire

/// Splits what arrives before the session into messages of admission, within bounds.
package struct AdmissionReader {
    /// The most bytes that an end may send before it is admitted.
    package static let maximumByteCount = 8 * 1024

    private var buffer: [UInt8] = []
    /// Bytes of messages that were read.
    private var readByteCount = 0

    mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer += bytes }

    /// The next message, once it is whole.
    ///
    /// - Throws: ``AdmissionRefusal`` if the bytes are not one, or are too many.
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

    /// - Throws: ``AdmissionRefusal/Code/malformed`` if the end has sent more than it may.
    func checkByteCount() throws(AdmissionRefusal) {
        guard readByteCount + buffer.count <= Self.maximumByteCount else { throw .malformed }
    }

    /// The bytes of the next frame, once its header is here. An element that does not belong here is refused at once.
    private func frameByteCount() throws(AdmissionRefusal) -> Int? {
        guard let id = buffer.first else { return nil }
        guard Int8(bitPattern: id) == SystemElement.admission.rawValue else { throw .malformed }
        guard buffer.count >= Envelope.streamByteCount else { return nil }
        let length = buffer[1..<Envelope.streamByteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= AdmissionMessage.maximumFrameByteCount - Envelope.streamByteCount else { throw .malformed }
        return Envelope.streamByteCount + length
    }

    /// What arrived after the last message of admission: the session's first bytes.
    mutating func takeRemainder() -> [UInt8] {
        defer { buffer = [] }
        return buffer
    }
}
