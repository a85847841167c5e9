import NIOCore

/// One connection's session with a broker, without the connection: what the broker may send when, which messages it has
/// not acknowledged, and whether it is alive.
struct SessionMachine: ~Copyable {
    enum Phase {
        /// CONNECT is sent and not answered.
        case connecting
        case connected
        /// DISCONNECT is sent.
        case closing
    }

    /// What is to be done about a packet.
    enum Step: Equatable {
        case none
        /// The broker has accepted the connection.
        case connected
        /// A message for the program. Unless the identifier is 0 it is to be acknowledged with it afterwards.
        case deliver(MQTTMessage, acknowledging: UInt16)
        /// A message of this identifier has arrived at the broker.
        case acknowledged(UInt16)
        /// A SUBSCRIBE was answered, with as many codes as it had filters.
        case subscribed(UInt16, codes: [UInt8])
        case unsubscribed(UInt16)
    }

    /// SUBSCRIBE and UNSUBSCRIBE packets that are not answered.
    private enum Request {
        case subscribe(filters: Int)
        case unsubscribe
    }

    /// The most unanswered SUBSCRIBE and UNSUBSCRIBE packets.
    static let maximumRequests = 1024

    private(set) var phase = Phase.connecting
    var keepAlive: KeepAlive
    private let maximumInFlight: Int
    private var identifiers = FlightWindow()
    private var requests: [UInt16: Request] = [:]
    /// Acknowledgements of nothing since they were last asked for.
    private var unexpectedAcknowledgements = 0

    /// - Parameter maximumInFlight: the most unacknowledged messages, 1...60000.
    init(keepAlive: TimeAmount, maximumInFlight: Int, now: NIODeadline) {
        self.keepAlive = KeepAlive(interval: keepAlive, now: now)
        self.maximumInFlight = maximumInFlight
    }

    // MARK: - Sending

    /// Messages that the broker has not acknowledged.
    var inFlight: Int { identifiers.count - requests.count }

    /// Messages, subscriptions and their ends that the broker has not acknowledged.
    var unanswered: Int { identifiers.count }

    /// Whether one more message that wants an acknowledgement may be sent.
    var hasRoom: Bool { inFlight < maximumInFlight }

    /// The identifier of a message that is sent now, if there is room.
    mutating func publish() -> UInt16? { hasRoom ? identifiers.take() : nil }

    /// The identifier of a SUBSCRIBE that is sent now, unless too many are unanswered.
    mutating func subscribe(filters: Int) -> UInt16? { request(.subscribe(filters: filters)) }

    /// The identifier of an UNSUBSCRIBE that is sent now, unless too many are unanswered.
    mutating func unsubscribe() -> UInt16? { request(.unsubscribe) }

    private mutating func request(_ request: Request) -> UInt16? {
        guard requests.count < Self.maximumRequests, let identifier = identifiers.take() else { return nil }
        requests[identifier] = request
        return identifier
    }

    /// DISCONNECT is sent: what the broker still sends is of no interest.
    mutating func disconnect() { phase = .closing }

    // MARK: - Receiving

    /// Takes a packet.
    ///
    /// - Throws: the error with which the connection ends.
    mutating func receive(_ packet: IncomingPacket, at now: NIODeadline) throws(MQTTError) -> Step {
        switch (phase, packet) {
        case (.closing, _): return .none
        case (.connecting, .connAck(let isSessionPresent, let code)): return try accept(isSessionPresent, code)
        case (.connecting, _): throw .violation("\(packet.kind.name) before CONNACK")
        case (.connected, .connAck): throw .violation("a second CONNACK")
        case (.connected, .publish(let message, let identifier)): return .deliver(message, acknowledging: identifier)
        case (.connected, .pubAck(let identifier)): return acknowledge(identifier, now)
        case (.connected, .subAck(let identifier, let codes)): return try subscribed(identifier, codes, now)
        case (.connected, .unsubAck(let identifier)): return unsubscribed(identifier, now)
        case (.connected, .pingResp): return .none
        }
    }

    private mutating func accept(_ isSessionPresent: Bool, _ code: UInt8) throws(MQTTError) -> Step {
        guard code == 0 else { throw MQTTError(returnCode: code) }
        guard !isSessionPresent else { throw .violation("CONNACK with a session, although a clean one was asked for") }
        phase = .connected
        return .connected
    }

    private mutating func acknowledge(_ identifier: UInt16, _ now: NIODeadline) -> Step {
        guard requests[identifier] == nil, identifiers.release(identifier) else { return unexpected() }
        keepAlive.receivedAcknowledgement(at: now, inFlight: unanswered)
        return .acknowledged(identifier)
    }

    private mutating func subscribed(
        _ identifier: UInt16, _ codes: [UInt8], _ now: NIODeadline
    ) throws(MQTTError) -> Step {
        guard case .subscribe(let filters) = requests[identifier] else { return unexpected() }
        guard codes.count == filters else {
            throw .violation("SUBACK with \(codes.count) codes for \(filters) filters")
        }
        guard !codes.contains(2) else { throw .violation("SUBACK that grants QoS 2, which was not asked for") }
        requests[identifier] = nil
        identifiers.release(identifier)
        keepAlive.receivedAcknowledgement(at: now, inFlight: unanswered)
        return .subscribed(identifier, codes: codes)
    }

    private mutating func unsubscribed(_ identifier: UInt16, _ now: NIODeadline) -> Step {
        guard case .unsubscribe = requests[identifier] else { return unexpected() }
        requests[identifier] = nil
        identifiers.release(identifier)
        keepAlive.receivedAcknowledgement(at: now, inFlight: unanswered)
        return .unsubscribed(identifier)
    }

    /// How many acknowledgements there were of nothing, since the last call.
    mutating func takeUnexpectedAcknowledgements() -> Int {
        defer { unexpectedAcknowledgements = 0 }
        return unexpectedAcknowledgements
    }

    /// An acknowledgement of nothing does no harm, and some brokers send one twice after a reconnection.
    private mutating func unexpected() -> Step {
        unexpectedAcknowledgements += 1
        return .none
    }
}
