/// The next step of the stream's writer.
enum StreamStep {
    /// Write a segment, and whether another follows immediately.
    case write(OutboundSegment, isMoreQueued: Bool)
    /// Flush a little later: values are being batched.
    case gather
    /// Nothing: nothing is queued, or the socket is full, or what is queued has to wait for the peer.
    case wait
}
