import Elemental
internal import ElementalFollowing
import MQTT
internal import NIOCore
internal import Support

// The connection to the broker, and the messages of other bridges there.
extension BridgeCore {
    /// After this time the bridge has found and connected to all existing services.
    private static let settlingTime = TimeAmount.seconds(15)
    /// The maximum number of services and bridges of others to remember.
    private static let mostClaims = 4096

    func take(_ event: MQTTEvent) {
        switch event {
        case .connected: brokerConnected()
        case .willReconnect(_, let delay, let error): brokerLost(error, retryIn: delay)
        case .subscriptionsRefused(let filters): subscriptionsRefused(filters)
        case .ended: break
        }
    }

    /// The connection to the broker is open. The broker may have kept nothing of an earlier connection.
    private func brokerConnected() {
        isConnected = true
        emit(.brokerConnected)
        if !isSubscribed {
            isSubscribed = true
            subscribe(
                to: [topics.allAvailability, topics.session.name]
                    + (options.discovery == .homeAssistant ? topics.discovery.births.sorted() : []))
        } else {
            askForOthers()
        }
        tellAll()
        settling?.cancel()
        settling = loop.assumeIsolated().scheduleTask(in: Self.settlingTime) { [weak self] in self?.withdrawMissing() }
    }

    /// Asks whether another bridge has the same name.
    func askForOthers() { publish(ByteBuffer(string: "?\(session)"), to: topics.session, isRetained: false) }

    private func takeSession(_ message: MQTTMessage) {
        guard !message.isRetained, message.payload.readableBytes <= 64 else { return }
        let text = String(buffer: message.payload)
        guard text.dropFirst() != session else { return }
        if text.first == "?" { publish(ByteBuffer(string: "!\(session)"), to: topics.session, isRetained: false) }
        let now = loop.now
        guard now >= nextSharedID else { return }
        nextSharedID = now + .minutes(1)
        emit(.sharedID(options.id))
    }

    func tellAll() {
        publish(Self.availability(true), to: topics.bridge)
        for service in services.values {
            publishAvailability(of: service)
            announce(service)
            for position in service.elements.indices { showAgain(position, service) }
        }
    }

    private func brokerLost(_ error: MQTTError, retryIn delay: Duration) {
        let wasConnected = isConnected
        isConnected = false
        settling?.cancel()
        birth?.cancel()
        birth = nil
        claimed = []
        otherBridges = []
        goneBridges = []
        rounds.removeAll()
        emit(.brokerAway(error, retryIn: delay))
        guard wasConnected else { return }
        // A broker gives no reason when it closes a connection.
        let found = oversized.connectionLost(isByPeer: false, at: .now)
        guard let found, let service = services[found.id.service],
            let element = service.catalogue?[id: found.id.id]
        else { return }
        let reason =
            "the broker closes the connection after a value of \(found.byteCount) bytes: the bridge now skips values of "
            + "this size; raise the broker's maximum message size"
        tell(.notPassed(MQTTError(.messageTooLarge, reason)), element, service)
    }

    /// Stops publishing, so that the bridge does not even report itself online when its own farewell comes back.
    func leave() {
        isConnected = false
        settling?.cancel()
        birth?.cancel()
        repetition?.cancel()
        rounds.end()
    }

    func take(_ message: MQTTMessage) {
        switch topics.place(of: message.topic) {
        case .set(let path, let level, let component):
            guard options.setsElements, let service = paths[path], let position = service.position(ofLevel: level)
            else { return }
            take(Command(payload: message.payload, component: component), message, position, service)
        case .config(let id):
            guard options.discovery == .homeAssistant,
                let service = services.values.first(where: { $0.own.topics.id == id })
            else { return }
            takeConfiguration(message, service)
        case .bridge(let topic): takeAvailability(ofBridge: topic, message.payload)
        case .availability(let path): takeAvailability(of: path, message)
        case .session: takeSession(message)
        case .birth:
            // A retained birth message is old. The bridge published everything when it connected.
            if !message.isRetained, message.payload == ByteBuffer(string: "online") { tellAllSoon() }
        case nil: break
        }
    }

    /// The broker reports that a service is online or offline.
    private func takeAvailability(of path: String, _ message: MQTTMessage) {
        let service = paths[path]
        if message.payload == Self.availability(false) {
            claimed.remove(path)
            // Another bridge has lost the service, or the last message of this one's earlier connection was late.
            if let service, service.own.isOnline == true { publishAvailability(of: service) }
        } else if message.isRetained, service?.own.isOnline != true, claimed.count < Self.mostClaims {
            claimed.insert(path)
        }
    }

    private func takeAvailability(ofBridge topic: String, _ payload: ByteBuffer) {
        let isOnline = payload != Self.availability(false)
        guard topic != topics.bridge.name else {
            // Either the last will of an earlier connection of this bridge, or another bridge with its name.
            if !isOnline { publish(Self.availability(true), to: topics.bridge) }
            return
        }
        guard !isOnline else {
            if otherBridges.count < Self.mostClaims { otherBridges.insert(topic) }
            goneBridges.remove(topic)
            return
        }
        otherBridges.remove(topic)
        if goneBridges.count < Self.mostClaims { goneBridges.insert(topic) }
        // Home Assistant shows a service as unavailable if its newest message names a bridge that is gone.
        for service in services.values where service.own.others.remove(topic) != nil { announce(service) }
        if settling == nil { withdrawMissing() }
    }

    /// Publishes that services are offline which went while no bridge was running. Does nothing while another bridge is
    /// online, because it may be connected to them.
    private func withdrawMissing() {
        settling = nil
        guard isConnected, otherBridges.isEmpty else { return }
        for path in claimed where paths[path]?.own.isOnline != true {
            guard let topic = try? topics.availability(ofService: path) else { continue }
            publish(Self.availability(false), to: topic)
        }
        claimed = []
    }
}
