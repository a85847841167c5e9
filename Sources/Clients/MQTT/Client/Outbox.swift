import DequeModule
import NIOCore
import Support

/// The messages that wait to be sent, in the order in which they were added.
///
/// A waiting message of ``MQTTClient/publishNewest(_:to:qos:retain:)`` is replaced in place by a newer one to the same
/// topic. These messages therefore take at most one place for each topic.
struct Outbox {
    private let maximumTopics: Int
    private let maximumBytes: Int
    /// Whether messages are accepted: the client is connected and is not stopping.
    var isOpen = false
    /// Whether the event loop will drain the outbox anyway, so that it need not be woken.
    private var isAttended = false
    private var queue: Deque<OutgoingMessage> = []
    /// The index of each topic's newest value in `queue`, plus `departures`, the number of messages that left it.
    private var places: [MQTTTopic: Int] = [:]
    private var departures = 0
    private(set) var bytes = 0
    private(set) var replaced = 0

    init(maximumTopics: Int, maximumBytes: Int) {
        self.maximumTopics = maximumTopics
        self.maximumBytes = maximumBytes
    }

    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }

    /// Adds a message that newer ones do not replace.
    mutating func add(_ message: OutgoingMessage) throws(MQTTError) {
        guard isOpen else { throw .notConnected }
        try makeRoom(message.size)
        queue.append(message)
    }

    /// Adds a message, or replaces the waiting one to the same topic. If it throws, the older one still waits.
    mutating func addNewest(_ message: OutgoingMessage) throws(MQTTError) {
        guard isOpen else { throw .notConnected }
        if let place = places[message.topic] {
            let index = place - departures
            try makeRoom(message.size - queue[index].size)
            queue[index] = message
            replaced += 1
            return
        }
        guard places.count < maximumTopics else {
            throw MQTTError(.queueFull, "newest values of \(maximumTopics) topics wait already (maximumWaitingTopics)")
        }
        try makeRoom(message.size)
        places[message.topic] = queue.count + departures
        queue.append(message)
    }

    /// - Returns: whether another thread, which has added a message, must wake the event loop.
    mutating func attend() -> Bool {
        defer { isAttended = true }
        return !isAttended
    }

    /// - Parameter size: the message's size, minus that of the message that it replaces.
    private mutating func makeRoom(_ size: Int) throws(MQTTError) {
        guard size <= maximumBytes else {
            throw MQTTError(
                .messageTooLarge,
                "a message of \(size) bytes, overhead included, exceeds the maximum of waiting bytes: "
                    + "\(maximumBytes) (maximumWaitingBytes)")
        }
        guard size <= 0 || bytes + size <= maximumBytes else {
            throw MQTTError(
                .queueFull,
                "the broker is slower than the publisher: \(bytes) bytes wait, of at most \(maximumBytes) "
                    + "(maximumWaitingBytes)")
        }
        bytes += size
    }

    /// - Parameter hasRoom: whether a message with QoS 1 may be sent.
    mutating func takeNext(hasRoom: Bool) -> (message: OutgoingMessage?, isEmpty: Bool) {
        guard let message = queue.first else {
            isAttended = false
            return (nil, true)
        }
        guard hasRoom || message.qos == .atMostOnce else { return (nil, false) }
        queue.removeFirst()
        if places[message.topic] == departures { places[message.topic] = nil }
        departures += 1
        bytes -= message.size
        return (message, false)
    }

    mutating func clear() -> [OutgoingMessage.Sender] {
        isOpen = false
        isAttended = false
        let senders = queue.compactMap(\.sender)
        queue = []
        places = [:]
        bytes = 0
        return senders
    }
}

struct OutgoingMessage: Sendable {
    var topic: MQTTTopic
    var payload: ByteBuffer
    var qos: MQTTQoS
    var isRetained: Bool
    var sender: Sender?

    /// Resolved when the message is sent or acknowledged, or with an error when it never will be.
    typealias Sender = Outcome<Result<Void, MQTTError>>

    /// The bytes that count for a waiting message: its own, and an estimate of the memory around them.
    var size: Int { payload.readableBytes + topic.encoded.count + 96 }
}
