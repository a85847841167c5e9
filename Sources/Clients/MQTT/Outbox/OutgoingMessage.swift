import NIOCore
import Support

/// A message on its way out.
struct OutgoingMessage: Sendable {
    var topic: MQTTTopic
    var payload: ByteBuffer
    var qos: MQTTQoS
    var isRetained: Bool
    /// Who waits for it.
    var sender: Sender?

    /// Resolved when the message was sent or acknowledged, or never will be.
    typealias Sender = Outcome<Result<Void, MQTTError>>

    /// The bytes that it counts for while it waits: its own, and about what the memory around them takes.
    var size: Int { payload.readableBytes + topic.encoded.count + 96 }
}
