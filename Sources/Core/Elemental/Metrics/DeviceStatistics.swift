/// The traffic of a device, counted since its first connection was established.
public struct DeviceStatistics: Sendable, Hashable {
    /// Values that `send` accepted, over TCP and UDP.
    public var messagesSent = 0
    /// Their bytes, envelopes included.
    public var bytesSent = 0
    /// Values that were received and delivered.
    public var messagesReceived = 0
    /// Bytes received over TCP and UDP, envelopes included.
    public var bytesReceived = 0
    /// Datagrams that the system did not accept for sending; the values in them are lost.
    public var datagramsDropped = 0
    /// Reports that a datagram did not arrive, such as "port unreachable". Nobody vouches for them.
    public var datagramErrors = 0
    /// Datagrams received that the peer did not seal, or that were received before. They were skipped.
    public var datagramsForged = 0
    /// Values of `latest` elements that were received after a newer datagram. They were skipped.
    public var messagesOutdated = 0
    /// Unsent values of `latest` elements that a newer value replaced.
    public var messagesReplaced = 0
    /// Frames whose value has a wrong length or form for the element's type, and values that a handler could not decode.
    /// They were skipped.
    public var messagesMalformed = 0
    /// Frames of elements that this end does not know. They were skipped.
    public var messagesUnknown = 0
    /// Values outside the element's range, or of an element that does not accept values from that end or from a client
    /// of that role. They were skipped.
    public var messagesRejected = 0
    /// Values that an async stream dropped because its consumer was too slow. Those that ``StreamBuffering/newest(_:)``
    /// replaces are not counted.
    public var messagesOverrun = 0
    /// Values queued now or, after the end of the connection, those that were never sent.
    public var messagesUnsent = 0
    /// The most recent round-trip time measured by a ping, the heartbeat's or the program's; `nil` until there is one.
    public var roundTripTime: Duration?

    /// No traffic.
    package init() {}

    mutating func addReceived(_ other: DeviceStatistics) {
        messagesReceived += other.messagesReceived
        bytesReceived += other.bytesReceived
        messagesMalformed += other.messagesMalformed
        messagesUnknown += other.messagesUnknown
        messagesRejected += other.messagesRejected
        messagesOutdated += other.messagesOutdated
    }
}
