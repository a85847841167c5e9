import DequeModule
import NIOCore
import Support

/// What waits to be sent, in the order in which it began to wait.
///
/// A message of ``MQTTClient/publishNewest(_:to:qos:retain:)`` that waits is replaced in place by a newer one to its topic,
/// so that such messages never take more than one place for each topic.
struct Outbox {
    private let maximumTopics: Int
    private let maximumBytes: Int
    /// Whether messages are taken: the client is connected and is not stopping.
    var isOpen = false
    /// Whether the event loop is going to look here by itself, so that it need not be woken.
    private var isAttended = false
    private var queue: Deque<OutgoingMessage> = []
    /// The place of each topic's newest value in `queue`, plus the number of messages that left it.
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

    /// Adds a message that is sent whatever comes after it.
    mutating func add(_ message: OutgoingMessage) throws(MQTTError) {
        guard isOpen else { throw .notConnected }
        try makeRoom(message.size)
        queue.append(message)
    }

    /// Adds a message, or replaces the one to the same topic that waits. If it throws, the older one still waits.
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

    /// - Returns: whether the event loop has to be woken, as another thread has added something.
    mutating func attend() -> Bool {
        defer { isAttended = true }
        return !isAttended
    }

    /// - Parameter size: the message's, less that of the one that it replaces.
    private mutating func makeRoom(_ size: Int) throws(MQTTError) {
        guard size <= maximumBytes else {
            throw MQTTError(
                .messageTooLarge,
                "a message of \(size) bytes, what is around it included, is larger than all that may wait: "
                    + "\(maximumBytes) (maximumWaitingBytes)")
        }
        guard size <= 0 || bytes + size <= maximumBytes else {
            throw MQTTError(
                .queueFull,
                "the broker takes less than is published: \(bytes) bytes wait, and \(maximumBytes) may "
                    + "(maximumWaitingBytes)")
        }
        bytes += size
    }

    /// - Parameter hasRoom: whether one that wants an acknowledgement may be sent.
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

    /// Resolved when the message was sent or acknowledged, or never will be.
    typealias Sender = Outcome<Result<Void, MQTTError>>

    /// The bytes that it counts for while it waits: its own, and about what the memory around them takes.
    var size: Int { payload.readableBytes + topic.encoded.count + 96 }
}
