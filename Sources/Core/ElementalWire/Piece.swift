/// A part of a large value in the system element ``SystemElement/piece``.
///
/// `element Int8 · total UInt32 · offset UInt32 · bytes`, little-endian: 9 bytes, then 1 to 65,536 bytes of the value.
/// The pieces of a value are sent in order, followed by those of the next large value; values of other elements may be
/// sent in between. A sender has at most ``windowByteCount`` unacknowledged bytes in flight
/// (``SystemElement/piecesTaken``), so a value that is sent meanwhile waits behind no more than that.
package enum Piece {
    /// Bytes before the value's in a piece.
    package static let headerByteCount = 9
    /// The maximum number of the value's bytes in a piece.
    package static let maximumByteCount = 64 * 1024
    /// The number of the value's bytes in a piece that this framework sends. The system copies one piece at a time, and
    /// a value of another element that is sent meanwhile waits for that copy.
    package static let sentByteCount = 32 * 1024
    /// The maximum number of unacknowledged bytes of pieces that this framework has in flight; the wire allows twice as
    /// many. A value of another element waits behind them. With a round trip of 1 ms they allow 128 MB/s.
    package static let windowByteCount = 128 * 1024

    /// Writes the 14 bytes before the value's bytes in a piece's frame: the stream's envelope and the piece's own
    /// header.
    ///
    /// - Precondition: the whole value is not longer than ``Envelope/maximumValueByteCount``.
    package static func writeHeader(
        id: Int8, total: Int, offset: Int, byteCount: Int, to destination: UnsafeMutableRawPointer
    ) {
        Envelope.writeStreamHeader(
            id: SystemElement.piece.rawValue, length: headerByteCount + byteCount, to: destination)
        let own = destination + Envelope.streamByteCount
        own.storeBytes(of: id, as: Int8.self)
        own.storeBytes(of: UInt32(total).littleEndian, toByteOffset: 1, as: UInt32.self)
        own.storeBytes(of: UInt32(offset).littleEndian, toByteOffset: 5, as: UInt32.self)
    }
}
