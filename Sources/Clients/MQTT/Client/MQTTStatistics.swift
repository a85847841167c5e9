/// Counts of a client's messages and bytes since its creation, over all its connections.
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
    /// Messages that the broker marked as duplicates.
    public var duplicatesReceived = 0
    /// Acknowledgements for which no packet was waiting.
    public var unexpectedAcknowledgements = 0
    /// Messages that wait to be sent.
    public var waitingMessages = 0
    /// Bytes of the waiting messages, with an estimate of the memory around them.
    public var waitingBytes = 0
    /// Waiting messages that were replaced by a newer one to the same topic.
    public var replacedMessages = 0
    /// Messages sent that the broker has not acknowledged.
    public var inFlight = 0
}
