internal import Bridging
import Elemental
internal import ElementalWire
import MQTT
internal import NIOCore
internal import Support

/// The services on one side, the broker on the other. It belongs to the broker's event loop, on which everything happens.
///
/// Of each element the newest value waits in a lane until it may go; all lanes are emptied together, so that what many
/// services say at about the same time leaves in one write.
final class BridgeCore {
    /// The shortest time between two rounds through the lanes where there is a limit to the rate: a value waits for no
    /// longer than that besides its own interval, and 1,000 values a second take 50 writes instead of 1,000.
    private static let roundInterval = Duration.milliseconds(20)
    /// The most values of a round: others have their turn on the event loop before the next one.
    private static let mostInRound = 1024

    /// Half of what may wait for the broker. A larger value would wait for room that there never is.
    private static let longestPayload = 4 << 20

    let client: MQTTClient
    let loop: any EventLoop
    let options: MQTTBridgeOptions
    let topics: BridgeTopics
    let format: PayloadFormat
    let emit: (MQTTBridgeEvent) -> Void

    private(set) var services: [ServiceKey: BridgedService] = [:]
    /// Services by ``ServiceTopics/path``.
    private var paths: [String: BridgedService] = [:]
    /// Services by ``ServiceTopics/id``.
    private var ids: [String: BridgedService] = [:]
    /// Services that are left out while another one has their topics, in the order in which they came.
    private var excluded: [BridgedService] = []
    private(set) var isConnected = false
    private var oversized = OversizedValues<ElementKey>()
    /// Publishes everything again after Home Assistant has started.
    var birth: Scheduled<Void>?
    /// Publishes again what the broker had no room for.
    private var repetition: Scheduled<Void>?
    /// How long the broker has until then.
    private static let repeatTime = TimeAmount.seconds(1)
    /// Whether topics besides those of services were asked for.
    var isSubscribed = false

    /// Services that are online according to the broker, and are not connected to this bridge.
    private var claimed: Set<String> = []
    /// The availabilities of other bridges that are online.
    private var otherBridges: Set<String> = []
    /// Those that were seen to go.
    private(set) var goneBridges: Set<String> = []
    /// Distinguishes this bridge from another one with the same name.
    private let session = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    /// When another bridge of this name is told of again.
    private var nextSharedID = NIODeadline.uptimeNanoseconds(0)
    private var settling: Scheduled<Void>?
    /// How long it takes after the connection until all services that are there have been found and connected to.
    private static let settlingTime = TimeAmount.seconds(15)
    /// No more services and bridges are remembered that are not this one's.
    private static let mostClaims = 4096

    /// Services with values that wait.
    private var waiting: [BridgedService] = []
    private let rounds: Rounds
    /// Whether the broker had no room for a value of this round.
    private var isFull = false
    /// How long it has to make some.
    private static let fullTime = Duration.milliseconds(250)

    /// An element of one of the services.
    struct ElementKey: Hashable, Sendable {
        let service: ServiceKey
        let id: Int8
    }

    init(
        _ client: MQTTClient, _ options: MQTTBridgeOptions, _ topics: BridgeTopics,
        emit: @escaping (MQTTBridgeEvent) -> Void
    ) {
        self.client = client
        loop = client.eventLoop
        self.options = options
        self.topics = topics
        self.emit = emit
        format = PayloadFormat(isForHomeAssistant: options.discovery == .homeAssistant)
        rounds = Rounds(every: options.interval == .zero ? .zero : Self.roundInterval, on: loop)
        rounds.onRound = { [weak self] in self?.makeRound() }
    }

    // MARK: - Services

    /// Takes what happens to the services.
    func take(_ event: SessionEvent) {
        switch event {
        case .state(let key, .connected(let device, let catalogue)): connected(key, device, catalogue)
        case .state(let key, .away), .state(let key, .refused): disconnected(key)
        case .state(let key, .gone): gone(key)
        case .value(let key, let element, let value):
            if let service = services[key] {
                take(value, of: element, service)
            } else if let service = excluded(key), let position = service.position(of: element) {
                service[position].newest = value
            }
        case .refusal(let key, let element, let refusal):
            if let service = services[key] { take(refusal, of: element, service) }
        case .state(_, .connecting), .place, .leftOut, .roundTrip, .browsingFailed, .browsingWorks, .tooMany: break
        }
    }

    private func connected(_ key: ServiceKey, _ device: ElementalDevice, _ catalogue: ElementCatalogue) {
        guard let service = services[key] ?? excluded(key) ?? add(key) else { return }
        let elements: [BridgedElement]
        do throws(MQTTError) {
            elements = try BridgedElement.all(of: catalogue, service.topics)
        } catch {
            return emit(.notShown(service.event, reason: error.message))
        }
        let isOther = service.connect(device, catalogue, elements)
        guard services[key] === service else { return }
        if isOther {
            for element in catalogue { oversized.forget(ElementKey(service: key, id: element.id)) }
            announce(service)
        }
        setOnline(true, service)
    }

    private func excluded(_ key: ServiceKey) -> BridgedService? { excluded.first { $0.key == key } }

    /// Takes up a service that was not there before. It is left out if its topics are those of another one.
    private func add(_ key: ServiceKey) -> BridgedService? {
        guard let topics = try? topics.service(key) else { return nil }
        let service = BridgedService(key, topics, interval: options.interval, on: loop)
        service.sent.onHandled = { [weak self, weak service] element, value, failure in
            if let self, let service { self.handled(value, of: element, failure, service) }
        }
        if let other = paths[topics.path] ?? ids[topics.id] {
            excluded.append(service)
            emit(.notShown(service.event, reason: "its topics are those of '\(other.key)'; rename one of them"))
        } else {
            claim(service)
        }
        return service
    }

    private func claim(_ service: BridgedService) {
        services[service.key] = service
        paths[service.topics.path] = service
        ids[service.topics.id] = service
    }

    /// Shows the first service that was left out for the topics of one that is gone.
    ///
    /// - Returns: whether there is one.
    private func showNext(_ gone: ServiceTopics) -> Bool {
        guard let index = excluded.firstIndex(where: { $0.topics.path == gone.path }) else { return false }
        let service = excluded.remove(at: index)
        claim(service)
        guard service.catalogue != nil else { return true }
        announce(service)
        setOnline(service.device != nil, service)
        for position in service.elements.indices { showAgain(position, service) }
        return true
    }

    private func disconnected(_ key: ServiceKey) {
        excluded(key)?.disconnect()
        guard let service = services[key] else { return }
        service.disconnect()
        // A bridge that was never connected to it publishes nothing: another bridge may be connected.
        if service.isOnline == true { setOnline(false, service) }
    }

    private func gone(_ key: ServiceKey) {
        excluded.removeAll { $0.key == key }
        guard let service = services[key] else { return }
        disconnected(key)
        services[key] = nil
        paths[service.topics.path] = nil
        ids[service.topics.id] = nil
        // Their subscriptions are the same.
        if !showNext(service.topics) { unsubscribe(service) }
    }

    private func setOnline(_ isOnline: Bool, _ service: BridgedService) {
        guard service.isOnline != isOnline else { return }
        service.isOnline = isOnline
        publishAvailability(of: service)
    }

    func publishAvailability(of service: BridgedService) {
        guard let isOnline = service.isOnline, service.takesCommands || !isOnline else { return }
        guard !publish(Self.availability(isOnline), to: service.topics.availability) else { return }
        service.mustRepeat.insert(.availability)
        repeatSoon()
    }

    /// Publishes what the broker had no room for when it may have some.
    func repeatSoon() {
        guard repetition == nil else { return }
        repetition = loop.assumeIsolated().scheduleTask(in: Self.repeatTime) { [weak self] in
            guard let self else { return }
            repetition = nil
            guard isConnected else { return }
            for service in services.values where !service.mustRepeat.isEmpty {
                let repeated = service.mustRepeat
                service.mustRepeat = []
                if repeated.contains(.availability) { publishAvailability(of: service) }
                if repeated.contains(.announcement) { announce(service) }
                if repeated.contains(.stale) { removeStale(of: service) }
            }
        }
    }

    static func availability(_ isOnline: Bool) -> ByteBuffer { ByteBuffer(string: isOnline ? "online" : "offline") }

    // MARK: - Values

    private func take(_ value: ElementValue, of definition: ElementDefinition, _ service: BridgedService) {
        guard let position = service.position(of: definition) else { return }
        // The service has said what became of what it was sent.
        service.sent.answered(definition)
        show(value, at: position, service)
    }

    /// A value is the element's newest, and passes to the broker.
    func show(_ value: ElementValue, at position: Int, _ service: BridgedService) {
        service[position].newest = value
        let element = service.elements[position]
        guard element.reads else { return }
        if element.definition.type == .data { notePicture(value, at: position, service) }
        pass(value, of: element, service)
    }

    /// The broker's clients are told again what the element's value is.
    func showAgain(_ position: Int, _ service: BridgedService) {
        guard let newest = service[position].newest, service.elements[position].reads else { return }
        let element = service.elements[position]
        service.echoes.forget(element.definition)
        service.lanes.open(element.definition)
        pass(newest, of: element, service)
    }

    private func pass(_ value: ElementValue, of element: BridgedElement, _ service: BridgedService) {
        // The broker is told everything when it is back.
        guard isConnected, service.lanes.add(value, of: element.definition), !service.isWaiting else { return }
        service.isWaiting = true
        waiting.append(service)
        rounds.ask()
    }

    /// Passes what may go now.
    private func makeRound() {
        guard isConnected else { return }
        let now = ContinuousClock.now
        var next: ContinuousClock.Instant?
        var count = 0
        var remaining: [BridgedService] = []
        isFull = false
        for service in waiting {
            var step = Lanes.Step.wait(until: now)
            while count < Self.mostInRound, !isFull {
                step = service.lanes.next(at: now)
                guard case .send(let element, let value) = step else { break }
                count += 1
                deliver(value, of: element, service)
            }
            switch step {
            case .wait(let opening):
                next = min(next ?? opening, opening)
                remaining.append(service)
            case .send:
                next = now
                remaining.append(service)
            case .idle: service.isWaiting = false
            }
        }
        waiting = remaining
        if isFull {
            rounds.ask(at: now + Self.fullTime)
        } else if let next {
            rounds.ask(at: next)
        }
    }

    private func deliver(_ value: ElementValue, of definition: ElementDefinition, _ service: BridgedService) {
        guard let position = service.position(of: definition), service.echoes.isNews(value, of: definition) else {
            return
        }
        let payload = format.payload(value, of: definition)
        guard payload.readableBytes <= Self.longestPayload else {
            let reason = "a value of \(payload.readableBytes) bytes is too large: at most \(Self.longestPayload) pass"
            return emit(.notPassed(service.event, definition, .toBroker, reason: reason))
        }
        let key = ElementKey(service: service.key, id: definition.id)
        guard !oversized.isTooLarge(payload.readableBytes, of: key) else { return }
        if publish(payload, to: service.elements[position].valueTopic) {
            oversized.note(payload.readableBytes, of: key, at: .now)
            emit(.toBroker(service.event, definition, value))
        } else {
            // It stays in its lane, unless a newer one replaces it.
            service.echoes.forget(definition)
            service.lanes.putBack(value, of: definition)
            emit(.dropped(service.event, definition, .toBroker))
            isFull = true
        }
    }

    /// Publishes a retained message, of which the newest of a topic waits while the broker takes no more.
    ///
    /// - Returns: whether there was room for it.
    @discardableResult
    func publish(_ payload: ByteBuffer, to topic: MQTTTopic, isRetained: Bool = true) -> Bool {
        guard isConnected else { return true }
        do throws(MQTTError) {
            try client.publishNewest(
                payload, to: topic, qos: isRetained ? .atLeastOnce : .atMostOnce, retain: isRetained)
            return true
        } catch {
            // What was not published when the connection is lost is published again after it.
            return error.code != .queueFull
        }
    }

    // MARK: - The broker

    /// The connection to the broker is open. It knows nothing of what was before.
    func brokerConnected() {
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

    /// Asks whether another bridge has this one's name.
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

    /// Tells everything there is to tell.
    func tellAll() {
        publish(Self.availability(true), to: topics.bridge)
        for service in services.values {
            publishAvailability(of: service)
            announce(service)
            for position in service.elements.indices { showAgain(position, service) }
        }
    }

    /// The connection to the broker was lost, or not made.
    func brokerLost(_ error: MQTTError, retryIn delay: Duration) {
        let wasConnected = isConnected
        isConnected = false
        settling?.cancel()
        birth?.cancel()
        birth = nil
        claimed = []
        otherBridges = []
        goneBridges = []
        for service in waiting { service.isWaiting = false }
        waiting = []
        emit(.brokerAway(error, retryIn: delay))
        guard wasConnected else { return }
        // A broker gives no reason when it closes a connection.
        let found = oversized.connectionLost(isByPeer: false, at: .now)
        guard let found, let service = services[found.id.service],
            let element = service.catalogue?[id: found.id.id]
        else { return }
        emit(
            .notPassed(
                service.event, element, .toBroker,
                reason:
                    "the broker closes the connection when it is sent a value of \(found.byteCount) bytes: values of "
                    + "this size are left out from now on"))
    }

    /// The bridge ends: nothing more is published, not even that it is there when its own farewell comes back.
    func leave() {
        isConnected = false
        settling?.cancel()
        birth?.cancel()
        repetition?.cancel()
        rounds.end()
    }

    /// Takes a message of the broker.
    func take(_ message: MQTTMessage) {
        switch topics.place(of: message.topic) {
        case .set(let path, let level, let component):
            guard options.setsElements, let service = paths[path], let position = service.position(ofLevel: level)
            else { return }
            take(Command(payload: message.payload, component: component), message, position, service)
        case .config(let id):
            if options.discovery == .homeAssistant, let service = ids[id] { takeConfiguration(message, service) }
        case .bridge(let topic): takeAvailability(ofBridge: topic, message.payload)
        case .availability(let path): takeAvailability(of: path, message)
        case .session: takeSession(message)
        case .birth:
            // A retained one is old; everything was told when the connection was made.
            if !message.isRetained, message.payload == ByteBuffer(string: "online") { tellAllSoon() }
        case nil: break
        }
    }

    // MARK: - Availability

    /// The broker has that a service is there, or is not.
    private func takeAvailability(of path: String, _ message: MQTTMessage) {
        let service = paths[path]
        if message.payload == Self.availability(false) {
            claimed.remove(path)
            // Another bridge has lost the service, or the last word of this one's earlier connection was late.
            if let service, service.isOnline == true { publishAvailability(of: service) }
        } else if message.isRetained, service?.isOnline != true, claimed.count < Self.mostClaims {
            claimed.insert(path)
        }
    }

    /// A bridge is there, or has gone.
    private func takeAvailability(ofBridge topic: String, _ payload: ByteBuffer) {
        let isOnline = payload != Self.availability(false)
        guard topic != topics.bridge.name else {
            // The last will of a connection that was here before, or another bridge of this name.
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
        // Services whose newest message is of that bridge would be unavailable with it.
        for service in services.values where service.others.remove(topic) != nil { announce(service) }
        if settling == nil { withdrawMissing() }
    }

    /// Services that went while no bridge was there are not online. Of those that another bridge may know nothing is said.
    private func withdrawMissing() {
        settling = nil
        guard isConnected, otherBridges.isEmpty else { return }
        for path in claimed where paths[path]?.isOnline != true {
            guard let topic = try? topics.availability(ofService: path) else { continue }
            publish(Self.availability(false), to: topic)
        }
        claimed = []
    }
}
