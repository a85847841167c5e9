import ElementalWire

/// What the system elements of one connection mean: takes a frame, answers what to do. No sockets, no threads.
struct Handshake {
    /// What to do about a system frame.
    enum Action {
        /// The service told our UDP identifier, 0 for none.
        case udpIdentifier(UInt8)
        /// The client told its name.
        case named(String)
        /// The peer said hello.
        case hello(Hello)
        /// The service told its catalogue.
        case catalogue(ElementCatalogue)
        /// The service told a catalogue that cannot be read, and none before it.
        case invalidCatalogue(WireError)
        /// The service shuts down, with this text.
        case shutDown(String)
        /// Bytes to send back.
        case pong
        /// Bytes that came back.
        case ponged
        /// A part of a large value.
        case piece
        /// What the peer has taken of the pieces sent.
        case piecesTaken
        /// The service did not take a value of that element.
        case refused(Int8, ValueRefusal)
        /// A frame that means nothing at this point: count it and go on.
        case unknown
        /// A frame whose bytes are not what its identifier promises: count it and go on.
        case malformed
    }

    /// Which part the other end plays.
    let peer: ElementalDevice.Role
    private(set) var hasIdentifier = false
    private(set) var hasName = false
    private(set) var hasHello = false
    /// Whether the service has told its catalogue, valid or not: there is nothing more to wait for.
    private(set) var hasCatalogue = false

    init(peer: ElementalDevice.Role) { self.peer = peer }

    /// What comes next in the handshake, in words.
    var awaited: String {
        switch peer {
        case .client: "the client's name"
        case .service where !hasIdentifier: "the service's UDP identifier"
        case .service where !hasHello: "the service's hello"
        case .service: "the service's element list"
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
            // A long name is cut and a name that is not UTF-8 is repaired: neither is worth losing a client for.
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
        case (.udpIdentifier, .client), (.deviceName, .service), (.shutdown, .client), (.catalogue, .client),
            (.refused, .client):
            return .unknown
        }
    }
}
