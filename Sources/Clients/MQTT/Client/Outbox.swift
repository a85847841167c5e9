import DequeModule
import NIOCore
import Support

/// What waits to be sent, in the order in which it began to wait.
///
/// A message of ``MQTTClient/publishNewest(_:to:qos:retain:)`` that waits is replaced in place by a newer one to its topic,
/// so that such messages never take more than one place for each topic.
struct Outbox {
    /// The number counts over both kinds, so that neither overtakes the other.
    private typealias Entry = (message: OutgoingMessage, number: UInt64)

    private let maximumTopics: Int
    private let maximumBytes: Int
    /// Whether messages are taken: the client is connected and is not stopping.
    var isOpen = false
    /// Whether the event loop is going to look here by itself, so that it need not be woken.
    private var isAttended = false
    private var queue: Deque<Entry> = []
    private var newest: Deque<Entry> = []
    /// The place of each topic in `newest`, plus the number of those that left it.
    private var places: [MQTTTopic: Int] = [:]
    private var departures = 0
    private var lastNumber: UInt64 = 0
    private(set) var bytes = 0
    private(set) var replaced = 0

    /// - Parameters:
    ///   - maximumTopics: topics of which a newest value may wait.
    ///   - maximumBytes: bytes that may wait, of both kinds together.
    init(maximumTopics: Int, maximumBytes: Int) {
        self.maximumTopics = maximumTopics
        self.maximumBytes = maximumBytes
    }

    var isEmpty: Bool { queue.isEmpty && newest.isEmpty }
    var count: Int { queue.count + newest.count }

    /// Adds a message that is sent whatever comes after it.
    mutating func add(_ message: OutgoingMessage) throws(MQTTError) {
        guard isOpen else { throw .notConnected }
        try makeRoom(message.size)
        lastNumber += 1
        queue.append((message, lastNumber))
    }

    /// Adds a message, or replaces the one to the same topic that waits. If it throws, the older one still waits.
    mutating func addNewest(_ message: OutgoingMessage) throws(MQTTError) {
        guard isOpen else { throw .notConnected }
        if let place = places[message.topic] {
            let index = place - departures
            try makeRoom(message.size - newest[index].message.size)
            newest[index].message = message
            replaced += 1
            return
        }
        guard newest.count < maximumTopics else {
            throw MQTTError(.queueFull, "newest values of \(maximumTopics) topics wait already (maximumWaitingTopics)")
        }
        try makeRoom(message.size)
        lastNumber += 1
        places[message.topic] = newest.count + departures
        newest.append((message, lastNumber))
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

    /// Removes the message whose turn it is, and leaves the outbox alone when there is none.
    ///
    /// - Parameter hasRoom: whether one that wants an acknowledgement may be sent.
    mutating func takeNext(hasRoom: Bool) -> (message: OutgoingMessage?, isEmpty: Bool) {
        let message = next(hasRoom: hasRoom)
        guard message == nil, isEmpty else { return (message, false) }
        isAttended = false
        return (nil, true)
    }

    private mutating func next(hasRoom: Bool) -> OutgoingMessage? {
        let isNewest = newest.first?.number ?? .max < queue.first?.number ?? .max
        guard hasRoom || (isNewest ? newest : queue).first?.message.qos == .atMostOnce,
            let entry = isNewest ? newest.popFirst() : queue.popFirst()
        else { return nil }
        if isNewest {
            places[entry.message.topic] = nil
            departures += 1
        }
        bytes -= entry.message.size
        return entry.message
    }

    /// - Returns: who waited.
    mutating func clear() -> [OutgoingMessage.Sender] {
        isOpen = false
        isAttended = false
        let senders = queue.compactMap { $0.message.sender }
        queue = []
        newest = []
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
