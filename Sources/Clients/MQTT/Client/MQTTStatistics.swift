/// What a client has sent and received since it was made, over all its connections.
public struct MQTTStatistics: Sendable, Equatable {
    /// Connections that the broker accepted.
    public var connections = 0
    /// Messages given to the network.
    public var messagesSent = 0
    /// Bytes given to the network, with TLS before encryption.
    public var bytesSent = 0
    /// Messages received.
    public var messagesReceived = 0
    /// Bytes received, with TLS after decryption.
    public var bytesReceived = 0
    /// Messages that the broker sent a second time, as far as it says so.
    public var duplicatesReceived = 0
    /// Acknowledgements of nothing that was waiting for one.
    public var unexpectedAcknowledgements = 0
    /// Messages that wait to be sent.
    public var waitingMessages = 0
    /// Bytes that they count for: their own, and about what the memory around them takes.
    public var waitingBytes = 0
    /// Messages that waited and were replaced by a newer one to their topic.
    public var replacedMessages = 0
    /// Messages sent that the broker has not acknowledged.
    public var inFlight = 0
}
