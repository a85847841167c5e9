import ElementalWire
import NIOCore

extension Session {
    /// A part of a large value came.
    func receivePiece(_ piece: UnsafeRawBufferPointer) {
        do {
            try pieces.take(piece) { progress in
                tell(progress, .incoming)
            } _: { id, value in
                deliverWhole(id, value)
            }
            takenByteCount &+= UInt32(piece.count - Piece.headerByteCount)
            owesTaken = true
        } catch {
            violate(error)
        }
    }

    /// Tells the peer, once for all that a read brought, what was taken, so that it may send more.
    func tellTaken() {
        guard owesTaken else { return }
        // A peer that sends pieces and does not read gets no answers rather than our memory.
        owesTaken = device.outbound.withLock { outbound in
            guard outbound.stream.hasRoom(for: MemoryLayout<UInt32>.size) else { return true }
            withUnsafeBytes(of: takenByteCount.littleEndian) { outbound.appendSystem(.piecesTaken, $0) }
            return false
        }
    }

    /// The peer tells what it has taken.
    func receiveTaken(_ value: UnsafeRawBufferPointer) {
        guard let count = UInt32(wireBytes: value), let all = device.outbound.withLock({ $0.large.note(taken: count) })
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
