public import NIOCore

/// A message from the broker.
public struct MQTTMessage: Sendable, Equatable {
    /// The topic it was published to. A hostile broker may send one that matches no subscription.
    public var topic: String
    /// The content. It is a slice of a whole network read, some KiB: copy it to keep it for long.
    public var payload: ByteBuffer
    /// How it was delivered.
    public var qos: MQTTQoS
    /// Whether the broker had retained it, and sends it because of a new subscription.
    public var isRetained: Bool
    /// Whether the broker marks it as sent again, because it received no acknowledgement. This copy may still be the
    /// first to arrive.
    public var isDuplicate: Bool

    /// Creates a message.
    public init(
        topic: String, payload: ByteBuffer, qos: MQTTQoS = .atMostOnce, isRetained: Bool = false,
        isDuplicate: Bool = false
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.isDuplicate = isDuplicate
    }
}

/// How a message is delivered.
public enum MQTTQoS: UInt8, Sendable, Hashable {
    /// Sent once; lost if the connection breaks.
    case atMostOnce = 0
    /// Acknowledged by the receiver, which may get it twice.
    case atLeastOnce = 1
}

/// A message that the broker publishes when the connection ends without a DISCONNECT: because it broke, or the program
/// was killed.
public struct MQTTLastWill: Sendable, Hashable {
    /// The topic to publish it to.
    public var topic: MQTTTopic
    /// The content, at most 65,535 bytes.
    public var payload: ByteBuffer
    /// How it is delivered.
    public var qos: MQTTQoS
    /// Whether the broker keeps it for later subscribers.
    public var isRetained: Bool

    /// Creates a last will.
    public init(topic: MQTTTopic, payload: ByteBuffer, qos: MQTTQoS = .atLeastOnce, isRetained: Bool = true) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
    }

    /// Creates a last will with a text as its content.
    public init(topic: MQTTTopic, text: String, qos: MQTTQoS = .atLeastOnce, isRetained: Bool = true) {
        self.init(topic: topic, payload: ByteBuffer(string: text), qos: qos, isRetained: isRetained)
    }
}
