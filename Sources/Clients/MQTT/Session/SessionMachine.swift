import NIOCore

/// The state of one session with a broker, without I/O. It checks what the broker sends, and tracks unacknowledged
/// messages and the keep-alive.
struct SessionMachine: ~Copyable {
    enum Phase {
        /// CONNECT is sent and not answered.
        case connecting
        case connected
        /// DISCONNECT is sent.
        case closing
    }

    enum Step: Equatable {
        case none
        case connected
        /// A message for the handlers. Unless the identifier is 0, the caller acknowledges the message with it
        /// afterwards.
        case deliver(MQTTMessage, acknowledging: UInt16)
        /// The broker has acknowledged the message with this identifier.
        case acknowledged(UInt16)
        /// The broker has answered a SUBSCRIBE, with one code for each filter, or an UNSUBSCRIBE, without codes.
        case answered(UInt16, codes: [UInt8])
        /// An acknowledgement for which no packet was waiting. It is harmless: some brokers send one twice after a
        /// reconnection.
        case unexpected
    }

    static let maximumRequests = 1024

    private(set) var phase = Phase.connecting
    var keepAlive: KeepAlive
    private let maximumInFlight: Int
    private var identifiers = FlightWindow()
    /// The number of codes expected for each SUBSCRIBE, by identifier; 0 for an UNSUBSCRIBE.
    private var requests: [UInt16: Int] = [:]

    /// - Parameter maximumInFlight: the maximum of unacknowledged messages, 1...60000.
    init(keepAlive: TimeAmount, maximumInFlight: Int, now: NIODeadline) {
        self.keepAlive = KeepAlive(interval: keepAlive, now: now)
        self.maximumInFlight = maximumInFlight
    }

    // MARK: - Sending

    var inFlight: Int { identifiers.count - requests.count }

    /// The number of packets that the broker has not acknowledged: PUBLISH with QoS 1, SUBSCRIBE and UNSUBSCRIBE.
    var unanswered: Int { identifiers.count }

    /// Whether one more message with QoS 1 may be sent.
    var hasRoom: Bool { inFlight < maximumInFlight }

    mutating func publish() -> UInt16? { hasRoom ? identifiers.take() : nil }

    /// Returns the identifier for a SUBSCRIBE or UNSUBSCRIBE, or `nil` if too many are unanswered.
    mutating func request(codes: Int) -> UInt16? {
        guard requests.count < Self.maximumRequests, let identifier = identifiers.take() else { return nil }
        requests[identifier] = codes
        return identifier
    }

    /// Notes that DISCONNECT is sent. Further packets from the broker are ignored.
    mutating func disconnect() { phase = .closing }

    // MARK: - Receiving

    mutating func receive(_ packet: IncomingPacket, at now: NIODeadline) throws(MQTTError) -> Step {
        switch (phase, packet) {
        case (.closing, _): return .none
        case (.connecting, .connAck(let isSessionPresent, let code)): return try accept(isSessionPresent, code)
        case (.connecting, _): throw .violation("\(packet.kind.name) before CONNACK")
        case (.connected, .connAck): throw .violation("a second CONNACK")
        case (.connected, .publish(let message, let identifier)): return .deliver(message, acknowledging: identifier)
        case (.connected, .pubAck(let identifier)):
            guard requests[identifier] == nil else { return .unexpected }
            return release(identifier, .acknowledged(identifier), now)
        case (.connected, .subAck(let identifier, let codes)): return try answered(identifier, codes, now)
        case (.connected, .unsubAck(let identifier)): return try answered(identifier, [], now)
        case (.connected, .pingResp): return .none
        }
    }

    private mutating func accept(_ isSessionPresent: Bool, _ code: UInt8) throws(MQTTError) -> Step {
        guard code == 0 else { throw MQTTError(returnCode: code) }
        guard !isSessionPresent else { throw .violation("CONNACK with a session, although a clean one was asked for") }
        phase = .connected
        return .connected
    }

    private mutating func answered(
        _ identifier: UInt16, _ codes: [UInt8], _ now: NIODeadline
    ) throws(MQTTError) -> Step {
        guard let filters = requests[identifier], (filters == 0) == codes.isEmpty else { return .unexpected }
        guard codes.count == filters else {
            throw .violation("SUBACK with \(codes.count) codes for \(filters) filters")
        }
        guard !codes.contains(2) else { throw .violation("SUBACK that grants QoS 2, which was not asked for") }
        requests[identifier] = nil
        return release(identifier, .answered(identifier, codes: codes), now)
    }

    private mutating func release(_ identifier: UInt16, _ step: Step, _ now: NIODeadline) -> Step {
        guard identifiers.release(identifier) else { return .unexpected }
        keepAlive.receivedAcknowledgement(at: now, inFlight: unanswered)
        return step
    }
}

/// The packet identifiers in use, 1...65535. An identifier is reused only after its acknowledgement.
struct FlightWindow {
    private var isInUse = [Bool](repeating: false, count: 65536)
    private var last: UInt16 = 0
    private(set) var count = 0

    /// Takes the next free identifier. There is always one: the limits of messages and of requests together are lower
    /// than the number of identifiers.
    mutating func take() -> UInt16? {
        guard count < 65535 else { return nil }
        repeat { last = last == .max ? 1 : last + 1 } while isInUse[Int(last)]
        isInUse[Int(last)] = true
        count += 1
        return last
    }

    /// - Returns: whether it was in use.
    @discardableResult
    mutating func release(_ identifier: UInt16) -> Bool {
        guard isInUse[Int(identifier)] else { return false }
        isInUse[Int(identifier)] = false
        count -= 1
        return true
    }
}
