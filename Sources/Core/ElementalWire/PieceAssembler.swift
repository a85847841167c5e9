/// Reassembles large values from their pieces. No sockets, no threads.
///
/// One value is in progress at a time. Memory grows with the bytes that have arrived, never with what a piece
/// announces, and nothing is stored of a value that the receiver does not want to keep.
package struct PieceAssembler: ~Copyable {
    /// How much of a value has arrived.
    package struct Progress: Sendable, Hashable {
        /// The value's element.
        package let id: Int8
        /// Bytes of the value that have arrived.
        package let byteCount: Int
        /// Bytes of the whole value.
        package let total: Int

        /// The progress of one value.
        package init(id: Int8, byteCount: Int, total: Int) {
            self.id = id
            self.byteCount = byteCount
            self.total = total
        }
    }

    /// The longest value accepted, in bytes.
    package let maximumValueByteCount: Int

    private var id: Int8 = 0
    private var total = 0
    /// How many bytes of the value have arrived, stored or not.
    private var arrivedByteCount = 0
    /// How many of its first bytes are stored.
    private var keptByteCount = 0
    /// Whether the value is dropped as it arrives and not passed on.
    private var isLeftOut = false
    private var value = GatheredBytes()

    /// An assembler for one stream.
    package init(maximumValueByteCount: Int) { self.maximumValueByteCount = maximumValueByteCount }

    /// How many bytes of an incomplete value are stored.
    package var bufferedByteCount: Int { value.count }

    /// Drops what is stored of the incomplete value and the rest of it as it arrives; it is never passed on.
    ///
    /// - Returns: the value's element and length, or `nil` if nothing is stored.
    package mutating func leaveOut() -> (id: Int8, length: Int)? {
        guard value.count > 0 else { return nil }
        value = GatheredBytes()
        keptByteCount = 0
        isLeftOut = true
        return (id, total)
    }

    /// Takes the value of a ``SystemElement/piece`` frame; with the last piece, `body` is called with the whole value.
    ///
    /// - Parameters:
    ///   - keeping: how many bytes of the value to store, called with its first piece. The rest is dropped as it
    ///     arrives, and `body` gets the value's first bytes.
    ///   - progress: called after each piece of a value that is stored whole, before `body`.
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidPiece`` or ``WireError/Code/valueTooLarge``; the
    ///   assembler cannot be used after it.
    package mutating func take(
        _ piece: UnsafeRawBufferPointer, keeping: (_ id: Int8, _ length: Int) -> Int = { _, length in length },
        progress: (Progress) -> Void, _ body: (_ id: Int8, ReceivedBytes) -> Void
    ) throws(WireError) {
        let byteCount = piece.count - Piece.headerByteCount
        guard let base = piece.baseAddress, (1...Piece.maximumByteCount).contains(byteCount) else {
            let count = byteCount > Piece.maximumByteCount ? "more than \(Piece.maximumByteCount)" : "\(byteCount)"
            throw WireError(.invalidPiece, "a piece of a value has \(count) bytes")
        }
        let id = base.load(as: Int8.self)
        let total = Int(clamping: UInt32(littleEndian: base.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
        let offset = Int(clamping: UInt32(littleEndian: base.loadUnaligned(fromByteOffset: 5, as: UInt32.self)))
        guard id >= 0 else { throw WireError(.invalidPiece, "a piece of the system element \(id)") }
        if arrivedByteCount == 0 {
            guard total <= maximumValueByteCount else {
                throw WireError(
                    .valueTooLarge,
                    "element \(id) announces a value of \(total) bytes; the limit is \(maximumValueByteCount)")
            }
            self.id = id
            self.total = total
            keptByteCount = max(0, min(total, keeping(id, total)))
        }
        guard id == self.id, total == self.total, offset == arrivedByteCount, byteCount <= total - offset else {
            throw WireError(
                .invalidPiece,
                "a piece of element \(id) at \(offset) of \(total) bytes does not follow \(arrivedByteCount) of \(self.total) "
                    + "bytes of element \(self.id)")
        }
        value.append(base + Piece.headerByteCount, min(byteCount, keptByteCount - value.count), of: keptByteCount)
        arrivedByteCount += byteCount
        if keptByteCount == total { progress(Progress(id: id, byteCount: arrivedByteCount, total: total)) }
        guard arrivedByteCount == total else { return }
        arrivedByteCount = 0
        if isLeftOut {
            isLeftOut = false
            return
        }
        value.handOver { body(id, $0) }
    }
}
