/// What whoever writes the stream does next.
enum StreamStep {
    /// Write a segment; another follows at once or does not.
    case write(OutboundSegment, isMoreQueued: Bool)
    /// Come back a little later: values are being gathered.
    case gather
    /// Nothing: either nothing waits, or the socket is full, or what waits has to wait for the peer.
    case wait
}
