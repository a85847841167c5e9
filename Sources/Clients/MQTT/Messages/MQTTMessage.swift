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

    /// A message.
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
