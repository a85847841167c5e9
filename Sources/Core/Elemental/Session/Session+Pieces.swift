import ElementalWire
import NIOCore

extension Session {
    /// A part of a large value came.
    func receivePiece(_ piece: UnsafeRawBufferPointer) {
        do {
            try pieces.take(piece) { id, length in
                keptByteCount(id, length)
            } progress: { progress in
                tell(progress, .incoming)
            } _: { id, value in
                deliverWhole(id, value)
            }
            takenByteCount &+= UInt32(piece.count - Piece.headerByteCount)
            needsAck = true
        } catch {
            violate(error)
        }
    }

    /// Acknowledges, once for all that a read brought, the pieces that were taken, so that the peer may send more.
    func sendAck() {
        guard needsAck else { return }
        let isQueued = device.outbound.withLock { outbound in
            withUnsafeBytes(of: takenByteCount.littleEndian) { outbound.appendAnswer(.piecesTaken, $0) }
        }
        needsAck = !isQueued
    }

    /// The peer acknowledges pieces.
    func receiveAck(_ value: UnsafeRawBufferPointer) {
        guard let count = UInt32(wireBytes: value), let all = device.outbound.withLock({ $0.pieces.acknowledge(count) })
        else {
            received.messagesMalformed += 1
            return
        }
        for progress in all { tell(progress, .outgoing) }
    }

    /// How far a large value has come that an older peer sends in one go.
    func tellPending() {
        guard let frame = decoder.pendingFrame, frame.id >= 0, frame.length > Piece.wholeByteCount else { return }
        let byteCount = decoder.bufferedByteCount - Envelope.streamByteCount
        // Nothing is gathered of a value that will not be taken.
        guard byteCount > 0 else { return }
        tell(PieceAssembler.Progress(id: frame.id, byteCount: byteCount, total: frame.length), .incoming)
    }

    func tell(_ progress: PieceAssembler.Progress, _ direction: TransferProgress.Direction) {
        let handlers = sharedHandlers.progressHandlers + device.handlers.progressHandlers
        guard !handlers.isEmpty, let element = table.catalogue[id: progress.id] else { return }
        let progress = TransferProgress(
            element: element, direction: direction, byteCount: progress.byteCount, totalByteCount: progress.total)
        for handler in handlers { handler(progress, device) }
    }
}
