import ElementalWire

/// A device's way out, guarded by its lock: the queues and what decides whether a value may enter them.
struct Outbound {
    /// Why datagrams cannot be sent.
    enum DatagramState {
        case open
        case unavailable(String)
    }

    /// `nil` before the connection is ready and after its end.
    var connection: Connection?
    /// Why the connection ends or has ended.
    var endReason: DisconnectReason?
    var stream: OutboundQueue
    var datagrams: OutboundQueue
    var datagramState = DatagramState.unavailable("the connection is not set up yet")
    /// Whether a flush of that queue is on its way, so that none needs to be asked for. Apart, so that datagrams leave
    /// while the stream is blocked.
    var isStreamFlushScheduled = false
    var isDatagramFlushScheduled = false
    var takesEmptyValues = false
    /// What is wrong with using an element on this connection, by identifier; mostly empty.
    var misfits: [Int8: ElementalError] = [:]
    /// Those who wait for room.
    var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    var lastWaiter: UInt64 = 0

    var messagesSent = 0
    var bytesSent = 0
    var messagesReplaced = 0
    var messagesLost = 0

    init(limit: Int) {
        stream = OutboundQueue(.stream, limit: limit)
        datagrams = OutboundQueue(.datagram(udpIdentifier: 0), limit: limit)
    }

    var messagesUnsent: Int { messagesLost + stream.messageCount + datagrams.messageCount }

    /// The error of sending without a connection.
    var notConnected: ElementalError {
        ElementalError(
            .notConnected, endReason.map { "the connection has ended: \($0)" } ?? "the device is not connected")
    }

    /// Queues a value, or says why it cannot.
    ///
    /// - Returns: the connection to wake if no flush is on its way.
    mutating func append(
        _ id: Int8, transport: Transport, latest: Bool, length: Int, write: (UnsafeMutableRawPointer) -> Void
    ) throws(ElementalError) -> Connection? {
        guard let connection else {
            throw notConnected
        }
        if !misfits.isEmpty, let misfit = misfits[id] { throw misfit }
        if length == 0, !takesEmptyValues {
            throw ElementalError(
                .emptyValue,
                "element \(id): the other end has not said that it takes empty values (an older ElementalController "
                    + "takes none); send at least one byte")
        }
        switch transport {
        case .tcp:
            bytesSent += try Self.append(
                to: &stream, id, latest: latest, length: length, replaced: &messagesReplaced, write)
        case .udp:
            if case .unavailable(let why) = datagramState {
                throw ElementalError(.udpUnavailable, "element \(id) travels over UDP, which is not to be had: \(why)")
            }
            guard length <= Envelope.maximumDatagramValueByteCount else {
                throw ElementalError(
                    .datagramTooLarge,
                    "element \(id): a value of \(length) bytes does not fit a datagram, which takes "
                        + "\(Envelope.maximumDatagramValueByteCount); define the element with transport: .tcp")
            }
            bytesSent += try Self.append(
                to: &datagrams, id, latest: latest, length: length, replaced: &messagesReplaced, write)
        }
        messagesSent += 1
        return needsFlush(of: transport) ? connection : nil
    }

    /// Notes that a flush is asked for.
    ///
    /// - Returns: whether this is the first to ask.
    mutating func needsFlush(of transport: Transport) -> Bool {
        switch transport {
        case .tcp:
            defer { isStreamFlushScheduled = true }
            return !isStreamFlushScheduled
        case .udp:
            defer { isDatagramFlushScheduled = true }
            return !isDatagramFlushScheduled
        }
    }

    private static func append(
        to queue: inout OutboundQueue, _ id: Int8, latest: Bool, length: Int, replaced: inout Int,
        _ write: (UnsafeMutableRawPointer) -> Void
    ) throws(ElementalError) -> Int {
        if latest {
            if queue.replace(id: id, length: length, write: write) { replaced += 1 }
            return Envelope.streamByteCount + length
        }
        guard queue.hasRoom(for: length) else {
            throw ElementalError(
                .queueFull,
                "element \(id): \(queue.byteCount) bytes wait to be sent and the limit is \(queue.limit); the other end "
                    + "or the network is slower than this program. Wait with sendWhenReady, send less often, or mark the "
                    + "element latest")
        }
        return queue.append(id: id, length: length, write: write)
    }

    /// Queues a frame of the system, which no limit holds back.
    mutating func appendSystem(
        _ element: SystemElement, over transport: Transport = .tcp, _ bytes: UnsafeRawBufferPointer
    ) {
        func copy(to destination: UnsafeMutableRawPointer) {
            guard let base = bytes.baseAddress else { return }
            destination.copyMemory(from: base, byteCount: bytes.count)
        }
        switch transport {
        case .tcp: stream.append(id: element.rawValue, length: bytes.count, write: copy)
        case .udp: datagrams.append(id: element.rawValue, length: bytes.count, write: copy)
        }
    }
}
