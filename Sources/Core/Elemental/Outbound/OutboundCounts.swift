/// Messages and bytes sent.
struct OutboundCounts {
    /// Values that were queued, including those replaced and lost since.
    var messagesSent = 0
    /// Their bytes, including their envelopes.
    var bytesSent = 0
    /// Values of `latest` elements that a newer one replaced.
    var messagesReplaced = 0
    /// Values that were queued when a connection ended, and those kept for a replacement that never opened.
    var messagesLost = 0

    @inline(__always)
    mutating func addMessage(_ byteCount: Int) {
        messagesSent += 1
        bytesSent += byteCount
    }
}
