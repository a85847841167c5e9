/// Puts the pieces of large values together. No sockets, no threads.
///
/// One value is under way at a time, and memory grows with what has arrived, never with what a piece claims.
public struct PieceAssembler: ~Copyable {
    /// What of a value has come.
    public struct Progress: Sendable, Hashable {
        /// The value's element.
        public let id: Int8
        /// Bytes of the value that have come.
        public let byteCount: Int
        /// Bytes that the value has.
        public let total: Int

        /// So many bytes of a value.
        public init(id: Int8, byteCount: Int, total: Int) {
            self.id = id
            self.byteCount = byteCount
            self.total = total
        }
    }

    /// The longest value taken, in bytes.
    public let maximumValueByteCount: Int

    private var id: Int8 = 0
    private var total = 0
    private var value = GatheredBytes()

    /// An assembler for one stream.
    public init(maximumValueByteCount: Int) { self.maximumValueByteCount = maximumValueByteCount }

    /// Takes the value of a ``SystemElement/piece`` frame; the last piece hands the whole value to `body`.
    ///
    /// - Returns: how far the value has come, before `body` where it is whole.
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidPiece`` or ``WireError/Code/valueTooLarge``; what was
    ///   under way is of no use after it.
    public mutating func take(
        _ piece: UnsafeRawBufferPointer, progress: (Progress) -> Void, _ body: (_ id: Int8, ReceivedBytes) -> Void
    ) throws(WireError) {
        let byteCount = piece.count - Piece.headerByteCount
        guard let base = piece.baseAddress, (1...Piece.maximumByteCount).contains(byteCount) else {
            throw WireError(.invalidPiece, "a piece of a value has \(byteCount) bytes")
        }
        let id = base.load(as: Int8.self)
        let total = Int(clamping: UInt32(littleEndian: base.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
        let offset = Int(clamping: UInt32(littleEndian: base.loadUnaligned(fromByteOffset: 5, as: UInt32.self)))
        guard id >= 0 else { throw WireError(.invalidPiece, "a piece of the system element \(id)") }
        if value.count == 0 {
            guard total <= maximumValueByteCount else {
                throw WireError(
                    .valueTooLarge,
                    "element \(id) announces a value of \(total) bytes; the limit is \(maximumValueByteCount)")
            }
            self.id = id
            self.total = total
        }
        guard id == self.id, total == self.total, offset == value.count, byteCount <= total - offset else {
            throw WireError(
                .invalidPiece,
                "a piece of element \(id) at \(offset) of \(total) bytes does not follow \(value.count) of \(self.total) "
                    + "bytes of element \(self.id)")
        }
        value.append(base + Piece.headerByteCount, byteCount, of: total)
        progress(Progress(id: id, byteCount: value.count, total: total))
        if value.count == total { value.handOver { body(id, $0) } }
    }
}
