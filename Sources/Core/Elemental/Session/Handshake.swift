import ElementalWire

/// The state machine of a connection's system elements: takes a frame, returns an action. No sockets, no threads.
struct Handshake {
    /// The action for a system frame.
    enum Action {
        case udpIdentifier(UInt8)
        case named(String)
        case hello(Hello)
        case catalogue(ElementCatalogue)
        /// The service's first catalogue cannot be decoded.
        case invalidCatalogue(WireError)
        case shutDown(String)
        /// A ping, whose bytes are to be sent back.
        case pong
        case ponged
        case piece
        case piecesTaken
        case refused(Int8, ValueRefusal)
        case datagramSecret([UInt8])
        case clock(ClockFrame)
        case timedValue
        case historyRequest(HistoryRequest)
        case historyAnswer(HistoryAnswer)
        /// A frame that has no meaning at this point: count it and continue.
        case unknown
        /// A frame whose payload does not fit its identifier: count it and continue.
        case malformed
    }

    let peer: ElementalDevice.Role
    private(set) var hasIdentifier = false
    private(set) var hasName = false
    private(set) var hasHello = false
    /// Whether the service has sent its catalogue, valid or not: there is nothing more to wait for.
    private(set) var hasCatalogue = false

    /// A description of the element that the handshake waits for next.
    var awaited: String {
        switch peer {
        case .client: "the client's name"
        case .service where !hasIdentifier: "the service's UDP identifier"
        case .service where !hasHello: "the service's hello"
        case .service: "the service's catalogue"
        }
    }

    mutating func receive(_ id: Int8, _ value: UnsafeRawBufferPointer) -> Action {
        guard let element = SystemElement(rawValue: id) else { return .unknown }
        switch (element, peer) {
        case (.udpIdentifier, .service):
            guard !hasIdentifier else { return .unknown }
            guard let identifier = UInt8(wireBytes: value) else { return .malformed }
            hasIdentifier = true
            return .udpIdentifier(identifier)
        case (.deviceName, .client):
            guard !hasName else { return .unknown }
            // A long name is truncated and invalid UTF-8 is repaired: neither is a reason to lose a client.
            let bytes = UnsafeRawBufferPointer(rebasing: value.prefix(SystemElement.maximumNameByteCount))
            hasName = true
            return .named(String(decoding: bytes, as: UTF8.self))
        case (.shutdown, .service):
            return .shutDown(String(decoding: value.prefix(SystemElement.maximumNameByteCount), as: UTF8.self))
        case (.hello, _):
            guard !hasHello else { return .unknown }
            guard let hello = Hello(wireBytes: value) else { return .malformed }
            hasHello = true
            return .hello(hello)
        case (.catalogue, .service):
            guard hasHello else { return .unknown }
            let isFirst = !hasCatalogue
            hasCatalogue = true
            do {
                return .catalogue(try ElementCatalogue(wireBytes: value))
            } catch {
                return isFirst ? .invalidCatalogue(error) : .malformed
            }
        case (.ping, _):
            guard hasHello else { return .unknown }
            return (1...SystemElement.maximumPingByteCount).contains(value.count) ? .pong : .malformed
        case (.pong, _):
            return hasHello ? .ponged : .unknown
        case (.piece, _):
            return hasHello ? .piece : .unknown
        case (.piecesTaken, _):
            return hasHello ? .piecesTaken : .unknown
        case (.refused, .service):
            guard hasHello else { return .unknown }
            guard let (id, refusal) = ValueRefusal.read(value) else { return .malformed }
            return .refused(id, refusal)
        case (.datagramSecret, _):
            return .datagramSecret(Array(value))
        case (.clock, _):
            guard hasHello else { return .unknown }
            let kind: ClockFrame.Kind = peer == .client ? .request : .answer
            guard let frame = ClockFrame(wireBytes: value), frame.kind == kind else { return .malformed }
            return .clock(frame)
        case (.timedValue, _):
            return hasHello ? .timedValue : .unknown
        case (.history, .client):
            guard hasHello else { return .unknown }
            return HistoryRequest(wireBytes: value).map { .historyRequest($0) } ?? .malformed
        case (.history, .service):
            guard hasHello else { return .unknown }
            return HistoryAnswer(wireBytes: value).map { .historyAnswer($0) } ?? .malformed
        case (.udpIdentifier, .client), (.deviceName, .service), (.shutdown, .client), (.catalogue, .client),
            (.refused, .client), (.admission, _):
            return .unknown
        }
    }
}
