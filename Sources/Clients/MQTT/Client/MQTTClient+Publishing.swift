public import NIOCore
import Support

extension MQTTClient {
    /// Publishes a message and waits until it is sent: with QoS 1 until the broker has acknowledged it, with QoS 0
    /// until it is handed to the network.
    ///
    /// Messages of one task are sent in order. This method and ``publishNewest(_:to:qos:retain:)`` may overtake each
    /// other: use only one of the two for a topic.
    ///
    /// - Throws: ``MQTTError/Code/notConnected`` without a connection, ``MQTTError/Code/connectionLost`` if it is lost
    ///   before that, ``MQTTError/Code/queueFull`` if waiting messages exceed ``MQTTOptions/maximumWaitingBytes``,
    ///   ``MQTTError/Code/messageTooLarge`` for a message larger than that or than MQTT allows,
    ///   ``MQTTError/Code/cancelled`` at once when the task is cancelled; the message may then still be sent.
    public func publish(
        _ payload: ByteBuffer, to topic: MQTTTopic, qos: MQTTQoS = .atLeastOnce, retain: Bool = false
    ) async throws(MQTTError) {
        let sender = OutgoingMessage.Sender()
        let message = OutgoingMessage(topic: topic, payload: payload, qos: qos, isRetained: retain, sender: sender)
        try checkSize(message)
        try add { outbox throws(MQTTError) in try outbox.add(message) }
        guard let result = await sender.value() else {
            throw MQTTError(.cancelled, "the task that published was cancelled")
        }
        try result.get()
    }

    /// Publishes bytes as ``publish(_:to:qos:retain:)-(ByteBuffer,_,_,_)``.
    public func publish(
        _ payload: some Sequence<UInt8>, to topic: MQTTTopic, qos: MQTTQoS = .atLeastOnce, retain: Bool = false
    ) async throws(MQTTError) {
        try await publish(ByteBuffer(bytes: payload), to: topic, qos: qos, retain: retain)
    }

    /// Publishes text as ``publish(_:to:qos:retain:)-(ByteBuffer,_,_,_)``.
    public func publish(
        _ text: String, to topic: MQTTTopic, qos: MQTTQoS = .atLeastOnce, retain: Bool = false
    ) async throws(MQTTError) {
        try await publish(ByteBuffer(string: text), to: topic, qos: qos, retain: retain)
    }

    /// Publishes the newest value of a topic, without waiting.
    ///
    /// The value waits while the network takes no more or too many messages are unacknowledged. A newer value of the
    /// same topic replaces it, so that stale values are not sent. When the connection is lost, values that wait or are
    /// unacknowledged are dropped: publish them again at ``MQTTEvent/connected``.
    ///
    /// Calls on the client's own event loop cost least: all messages of one turn of the loop are written together.
    /// Calls from other threads wake the loop once for all messages that it has not handled yet.
    ///
    /// - Throws: ``MQTTError/Code/notConnected``; ``MQTTError/Code/queueFull`` if too many topics or bytes wait
    ///   already; ``MQTTError/Code/messageTooLarge`` for a value larger than ``MQTTOptions/maximumWaitingBytes`` or
    ///   than MQTT allows.
    public func publishNewest(
        _ payload: ByteBuffer, to topic: MQTTTopic, qos: MQTTQoS = .atLeastOnce, retain: Bool = false
    ) throws(MQTTError) {
        let message = OutgoingMessage(topic: topic, payload: payload, qos: qos, isRetained: retain, sender: nil)
        try checkSize(message)
        if eventLoop.inEventLoop {
            try keeper.value.publishNewest(message)
        } else {
            try add { outbox throws(MQTTError) in try outbox.addNewest(message) }
        }
    }

    private func checkSize(_ message: OutgoingMessage) throws(MQTTError) {
        let size = message.topic.encoded.count + 2 + message.payload.readableBytes
        guard size <= OutgoingPacket.maximumLength else {
            throw MQTTError(
                .messageTooLarge, "a message must have at most \(OutgoingPacket.maximumLength) bytes, not \(size)")
        }
    }

    /// Adds to the outbox from any thread, and wakes the event loop if needed.
    private func add(_ body: (inout Outbox) throws(MQTTError) -> Void) throws(MQTTError) {
        let mustWake = try core.outbox.withLock { outbox in
            Result { () throws(MQTTError) in
                try body(&outbox)
                return outbox.attend()
            }
        }.get()
        if mustWake { eventLoop.execute { [keeper] in keeper.value.drain() } }
    }
}
