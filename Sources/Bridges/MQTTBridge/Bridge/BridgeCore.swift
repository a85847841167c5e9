import Elemental
internal import ElementalFollowing
internal import ElementalWire
import MQTT
internal import NIOCore
internal import Support

/// Connects the services to the broker. It belongs to the broker's event loop, on which everything happens.
///
/// The newest value of each element waits in a lane. All lanes are emptied together, so that values which many services
/// send at about the same time leave in one write.
final class BridgeCore {
    /// The minimum time between two rounds through the lanes if the rate is limited. A value waits at most this long in
    /// addition to its own interval, and 1,000 values a second take 50 writes instead of 1,000.
    private static let roundInterval = Duration.milliseconds(20)
    /// How long to wait for room at the broker.
    private static let fullTime = Duration.milliseconds(250)

    let client: MQTTClient
    let loop: any EventLoop
    let options: MQTTBridgeOptions
    let topics: BridgeTopics
    let emit: (MQTTBridgeEvent) -> Void

    private(set) var services: [ServiceKey: BridgedService] = [:]
    /// Services by ``ServiceTopics/path``.
    var paths: [String: BridgedService] = [:]
    /// Services that are left out because another one has the same topics, in the order of their arrival.
    private var excluded: [BridgedService] = []
    var isConnected = false
    var oversized = OversizedValues<ElementKey>()
    /// Publishes everything again after Home Assistant has started.
    var birth: Scheduled<Void>?
    var repetition: Scheduled<Void>?
    private static let repeatTime = TimeAmount.seconds(1)
    /// Whether the bridge has subscribed to the topics that do not belong to one service.
    var isSubscribed = false

    /// Services that are online according to the broker, but not connected to this bridge.
    var claimed: Set<String> = []
    /// The availability topics of other bridges that are online.
    var otherBridges: Set<String> = []
    /// The availability topics of bridges that went offline.
    var goneBridges: Set<String> = []
    /// Distinguishes this bridge from another one with the same name.
    let session = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    /// The earliest time to report another bridge of this name again.
    var nextSharedID = NIODeadline.uptimeNanoseconds(0)
    var settling: Scheduled<Void>?

    let rounds: ValueRounds<MQTTElement, MQTTReading, MQTTService>
    /// Whether the broker had no room for a value of this round.
    var isFull = false

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
        rounds = ValueRounds(
            every: options.interval == .zero ? .zero : Self.roundInterval, pause: Self.fullTime, on: loop)
        rounds.willBegin = { [weak self] in self?.isFull = false }
        rounds.isFull = { [weak self] in self?.isFull ?? false }
        rounds.deliver = { [weak self] value, position, service in self?.deliver(value, position, service) }
    }

    // MARK: - Services

    func take(_ event: FollowerEvent) {
        switch event {
        case .state(let key, .connected(let device, let catalogue)): connected(key, device, catalogue)
        case .state(let key, .away), .state(let key, .refused): disconnected(key)
        case .state(let key, .gone): gone(key)
        case .value(let key, let element, let value, _):
            if let service = services[key] {
                if let position = service.answered(element) { show(value, at: position, service) }
            } else if let service = excluded(key), let position = service.position(of: element) {
                service[position].newest = value
            }
        case .refusal(let key, let element, let refusal):
            // The element's current value follows.
            guard let service = services[key], let position = service.answered(element) else { return }
            refuse(refusal, position, service)
        case .state(_, .connecting), .place, .history, .leftOut, .roundTrip, .browsingFailed, .browsingWorks, .tooMany:
            break
        }
    }

    private func connected(_ key: ServiceKey, _ device: ElementalDevice, _ catalogue: ElementCatalogue) {
        guard let service = services[key] ?? excluded(key) ?? add(key) else { return }
        let isOther: Bool
        do throws(MQTTError) {
            isOther = try service.connect(device, catalogue)
        } catch {
            return emit(.notShown(service.key, error))
        }
        guard services[key] === service else { return }
        if isOther {
            for element in catalogue { oversized.forget(ElementKey(service: key, id: element.id)) }
            announce(service)
        }
        setOnline(true, service)
    }

    private func excluded(_ key: ServiceKey) -> BridgedService? { excluded.first { $0.key == key } }

    /// Adds a service that is new. It is left out if another one has the same topics.
    private func add(_ key: ServiceKey) -> BridgedService? {
        guard let topics = try? topics.service(key) else { return nil }
        let outbound = Lanes(interval: options.interval, keeping: .newest)
        let service = BridgedService(key, MQTTService(topics: topics), outbound: outbound, on: loop)
        service.sent.onOutcome = { [weak self, weak service] element, outcome in
            if let self, let service { self.take(outcome, of: element, service) }
        }
        if let other = paths[topics.path] {
            excluded.append(service)
            emit(
                .notShown(
                    key, MQTTError(.invalidTopic, "it has the same topics as '\(other.key)'; rename one of them")))
        } else {
            claim(service)
        }
        return service
    }

    private func claim(_ service: BridgedService) {
        services[service.key] = service
        paths[service.own.topics.path] = service
    }

    /// Shows a service that was left out because the one that is gone has the same topics.
    ///
    /// - Returns: whether there is one.
    private func showNext(_ gone: ServiceTopics) -> Bool {
        guard let index = excluded.firstIndex(where: { $0.own.topics.path == gone.path }) else { return false }
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
        // A bridge that was never connected to the service publishes nothing, since another one may be connected.
        if service.own.isOnline == true { setOnline(false, service) }
    }

    private func gone(_ key: ServiceKey) {
        excluded.removeAll { $0.key == key }
        guard let service = services[key] else { return }
        disconnected(key)
        services[key] = nil
        paths[service.own.topics.path] = nil
        // The next service has the same subscriptions.
        if !showNext(service.own.topics) { unsubscribe(service) }
    }

    private func setOnline(_ isOnline: Bool, _ service: BridgedService) {
        guard service.own.isOnline != isOnline else { return }
        service.own.isOnline = isOnline
        publishAvailability(of: service)
    }

    func publishAvailability(of service: BridgedService) {
        guard let isOnline = service.own.isOnline, service.own.takesCommands || !isOnline else { return }
        guard !publish(Self.availability(isOnline), to: service.own.topics.availability) else { return }
        service.own.unpublished.insert(.availability)
        repeatSoon()
    }

    /// Publishes again what the broker had no room for, after a delay.
    func repeatSoon() {
        guard repetition == nil else { return }
        repetition = loop.assumeIsolated().scheduleTask(in: Self.repeatTime) { [weak self] in
            guard let self else { return }
            repetition = nil
            guard isConnected else { return }
            for service in services.values where !service.own.unpublished.isEmpty {
                let repeated = service.own.unpublished
                service.own.unpublished = []
                if repeated.contains(.availability) { publishAvailability(of: service) }
                if repeated.contains(.announcement) { announce(service) }
                if repeated.contains(.stale) { removeStale(of: service) }
            }
        }
    }

    func tell(
        _ outcome: BridgedValue.Outcome, _ element: ElementDefinition, isForService: Bool = false,
        _ service: BridgedService
    ) {
        emit(.value(BridgedValue(service.key, element, outcome, .broker, isForService: isForService)))
    }

    static func availability(_ isOnline: Bool) -> ByteBuffer { ByteBuffer(string: isOnline ? "online" : "offline") }
}
