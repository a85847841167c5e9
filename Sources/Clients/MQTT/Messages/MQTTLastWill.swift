public import NIOCore

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

    /// A last will.
    public init(topic: MQTTTopic, payload: ByteBuffer, qos: MQTTQoS = .atLeastOnce, isRetained: Bool = true) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
    }

    /// A last will that is text.
    public init(topic: MQTTTopic, text: String, qos: MQTTQoS = .atLeastOnce, isRetained: Bool = true) {
        self.init(topic: topic, payload: ByteBuffer(string: text), qos: qos, isRetained: isRetained)
    }
}
