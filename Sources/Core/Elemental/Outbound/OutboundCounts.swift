/// What was sent, in messages and bytes.
struct OutboundCounts {
    /// Values that were queued, with those replaced and lost since.
    var messagesSent = 0
    /// Their bytes, with their envelopes.
    var bytesSent = 0
    /// Values of `latest` elements that a newer one took the place of.
    var messagesReplaced = 0
    /// Values that were queued when a connection ended, and those kept for one that never came.
    var messagesLost = 0

    @inline(__always)
    mutating func addMessage(_ byteCount: Int) {
        messagesSent += 1
        bytesSent += byteCount
    }
}
