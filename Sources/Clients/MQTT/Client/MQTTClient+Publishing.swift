public import NIOCore
import Support

extension MQTTClient {
    /// Publishes a message, and waits until it was sent: with QoS 1 until the broker has acknowledged it, with QoS 0 until
    /// it is given to the network.
    ///
    /// Messages of one task are sent in order. A message and newest values (``publishNewest(_:to:qos:retain:)``) to one topic
    /// may overtake each other: use one of the two for a topic.
    ///
    /// - Throws: ``MQTTError/Code/notConnected`` without a connection, ``MQTTError/Code/connectionLost`` if it is lost before
    ///   that, ``MQTTError/Code/queueFull`` if more waits than may, ``MQTTError/Code/messageTooLarge`` for a message larger
    ///   than all that may wait, ``MQTTError/Code/cancelled`` at once when the task is cancelled; the message may then still
    ///   be sent.
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
    /// If it cannot be sent now, because the network takes no more or too many messages are not acknowledged, it waits. A
    /// newer one to the same topic takes its place, so that what arrives is never older than it must be. What waits or is
    /// not acknowledged when the connection is lost is dropped: publish the values again at ``MQTTEvent/connected``.
    ///
    /// On the client's own event loop this costs least; all messages of one turn of the loop are written at once. From
    /// other threads the loop is woken once for all messages that it has not seen yet.
    ///
    /// - Throws: ``MQTTError/Code/notConnected``; ``MQTTError/Code/queueFull`` if values of too many topics, or too many
    ///   bytes, wait already; ``MQTTError/Code/messageTooLarge`` for a value that is larger than all that may wait.
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
                .messageTooLarge, "a message has at most \(OutgoingPacket.maximumLength) bytes, not \(size)")
        }
    }

    /// Adds to what waits, from any thread.
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
