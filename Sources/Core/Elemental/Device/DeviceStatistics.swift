/// What went over one connection, counted since it was made.
public struct DeviceStatistics: Sendable, Hashable {
    /// Values that `send` took, over TCP and UDP.
    public var messagesSent = 0
    /// Their bytes with envelopes.
    public var bytesSent = 0
    /// Values that came and were handed on.
    public var messagesReceived = 0
    /// Bytes that came over TCP and UDP, envelopes included.
    public var bytesReceived = 0
    /// Datagrams that the system did not take, with the values in them lost.
    public var datagramsDropped = 0
    /// Unsent values of `latest` elements that a newer value replaced.
    public var messagesReplaced = 0
    /// Frames whose value has a wrong length or form for the element's type. They were skipped.
    public var messagesMalformed = 0
    /// Frames of elements that this end does not know. They were skipped.
    public var messagesUnknown = 0
    /// Values outside the element's range, or of an element that does not take values from that end. Skipped.
    public var messagesRejected = 0
    /// Values that wait in the queue now or, after the end of the connection, those that never left it.
    public var messagesUnsent = 0
    /// The newest round trip that a ping measured, the heartbeat's or the program's; `nil` while there is none.
    public var roundTripTime: Duration?

    mutating func addReceived(_ other: DeviceStatistics) {
        messagesReceived += other.messagesReceived
        bytesReceived += other.bytesReceived
        messagesMalformed += other.messagesMalformed
        messagesUnknown += other.messagesUnknown
        messagesRejected += other.messagesRejected
        datagramsDropped += other.datagramsDropped
    }
}
