public import NIOCore

/// A message from the broker.
public struct MQTTMessage: Sendable, Equatable {
    /// The topic it was published to. It may be one that was never subscribed to, if the broker is hostile.
    public var topic: String
    /// The content. It is part of the memory in which a whole piece of the network was received, some KiB: copy what is
    /// kept for long.
    public var payload: ByteBuffer
    /// How it was delivered.
    public var qos: MQTTQoS
    /// Whether the broker had kept it, and sends it because of a new subscription.
    public var isRetained: Bool
    /// Whether the broker sends it again, having seen no acknowledgement. It may be the first time all the same.
    public var isDuplicate: Bool

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
    /// Where it is published.
    public var topic: MQTTTopic
    /// The content, at most 65,535 bytes.
    public var payload: ByteBuffer
    /// How it is delivered.
    public var qos: MQTTQoS
    /// Whether the broker keeps it for later subscribers.
    public var isRetained: Bool

    public init(topic: MQTTTopic, payload: ByteBuffer, qos: MQTTQoS = .atLeastOnce, isRetained: Bool = true) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
    }

    public init(topic: MQTTTopic, text: String, qos: MQTTQoS = .atLeastOnce, isRetained: Bool = true) {
        self.init(topic: topic, payload: ByteBuffer(string: text), qos: qos, isRetained: isRetained)
    }
}
