/// The traffic of a device, counted since its first connection was established.
public struct DeviceStatistics: Sendable, Hashable {
    /// Values that `send` accepted, over TCP and UDP.
    public package(set) var messagesSent = 0
    /// Their bytes, envelopes included.
    public package(set) var bytesSent = 0
    /// Values that were received and delivered.
    public package(set) var messagesReceived = 0
    /// Bytes received over TCP and UDP, envelopes included.
    public package(set) var bytesReceived = 0
    /// Datagrams that the system did not accept for sending; the values in them are lost.
    public package(set) var datagramsDropped = 0
    /// Reports that a datagram did not arrive, such as "port unreachable". They are not authenticated.
    public package(set) var datagramErrors = 0
    /// Datagrams received that the peer did not seal, or that were received before. They were skipped.
    public package(set) var datagramsForged = 0
    /// Values of `latest` elements that were received after a newer datagram. They were skipped.
    public package(set) var messagesOutdated = 0
    /// Unsent values of `latest` elements that a newer value replaced.
    public package(set) var messagesReplaced = 0
    /// Frames whose value has a wrong length or form for the element's type, and values that a handler could not decode.
    /// They were skipped.
    public package(set) var messagesMalformed = 0
    /// Frames of elements that this end does not know. They were skipped.
    public package(set) var messagesUnknown = 0
    /// Values outside the element's range, or of an element that does not accept values from that end or from a client
    /// of that role. They were skipped.
    public package(set) var messagesRejected = 0
    /// Times of measurement before 1970 or after 2100. Their values were delivered without a time.
    public package(set) var timesRejected = 0
    /// Values that an async stream dropped because its consumer was too slow. Those that ``StreamBuffering/newest(_:)``
    /// replaces are not counted.
    public package(set) var messagesOverrun = 0
    /// Values queued now or, after the end of the connection, those that were never sent.
    public package(set) var messagesUnsent = 0
    /// The most recent round-trip time measured by a ping, the heartbeat's or the program's; `nil` until there is one.
    public package(set) var roundTripTime: Duration?

    /// No traffic.
    package init() {}
}
