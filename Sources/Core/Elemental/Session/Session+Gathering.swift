import ElementalWire

/// What values take that have not come whole.
extension Session {
    /// How many bytes are worth keeping of a value that does not come in one read: none where the element is not
    /// defined, or has another length, or does not take values from this end.
    func keptByteCount(_ id: Int8, _ length: Int) -> Int {
        guard id < 0 else { return rules[Int(id)].keptByteCount(of: length, takes: takes) }
        return SystemElement(rawValue: id)?.keptByteCount(of: length) ?? 0
    }

    /// Ends the connection if the values that have not come whole take more than they may.
    func watchGathered() {
        let count = decoder.bufferedByteCount + pieces.bufferedByteCount
        if count != gatheredByteCount { noteGathered(count) }
        if case .none = ending { return }
        discardGathered()
    }

    private func noteGathered(_ count: Int) {
        let refusal = owner?.session(self, gathers: count - gatheredByteCount)
        gatheredByteCount = count
        guard case .none = ending else { return }
        let limit = device.limits.maximumValueByteCount
        if count > limit + Piece.wholeByteCount + Envelope.streamByteCount {
            violate(
                WireError(.valueTooLarge, "values that are still arriving have \(count) bytes; the limit is \(limit)"))
        } else if let refusal {
            end(DisconnectReason(.limitReached(refusal), isExpected: false), shutdownText: refusal)
        }
    }

    /// Lets go of what has come of values that are of no interest any more.
    func discardGathered() {
        guard decoder.bufferedByteCount + pieces.bufferedByteCount > 0 else { return }
        decoder = StreamDecoder(maximumValueByteCount: decoder.maximumValueByteCount)
        pieces = PieceAssembler(maximumValueByteCount: pieces.maximumValueByteCount)
        noteGathered(0)
    }
}
