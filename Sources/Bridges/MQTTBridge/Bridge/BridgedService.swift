import Elemental
internal import ElementalFollowing
import MQTT
internal import NIOCore

/// A service that is bridged. It belongs to the bridge's event loop.
final class BridgedService {
    /// What is published again when the broker has room.
    enum Repeated: Hashable {
        case availability, announcement, stale
    }

    /// What is known of an element's value.
    struct Reading {
        var newest: ElementValue?
        /// The content type of the pictures among its values.
        var pictureType: String?
        /// The hash of the last command, which a broker may send twice.
        var lastCommand: Int?
    }

    let key: ServiceKey
    let topics: ServiceTopics
    private(set) var device: ElementalDevice?
    private(set) var catalogue: ElementCatalogue?
    private(set) var elements: [BridgedElement] = []
    /// Positions in ``elements`` by identifier; ``unused`` where no element has it.
    private var positions = [UInt8](repeating: unused, count: 128)
    private var readings: [Reading] = []
    /// Values on their way to the broker.
    var lanes: Lanes
    /// The newest values that passed, of elements marked latest.
    var echoes = EchoFilter()
    /// Whether it is in the bridge's list of services with values that wait.
    var isWaiting = false
    /// Whether there is a connection to the service; `nil` before the first one: nothing is published then.
    var isOnline: Bool?
    /// Whether the broker was asked for the service's topics.
    var isSubscribed = false
    /// Whether the broker has answered that. The service is not said to be online before: a command that follows at once
    /// would be lost.
    var takesCommands = false
    /// What Home Assistant was told of it, as far as it is known.
    var retained = RetainedDiscovery()
    /// The availabilities of other bridges that the newest message depends on.
    var others: Set<String> = []
    /// The configuration that this bridge published last.
    var published: ByteBuffer?
    /// Whether an announcement is under way, and whether another one has to follow.
    var isAnnouncing = false
    var mustAnnounce = false
    /// The newest message about the service that was not read yet, and whether one is being read.
    var unread: MQTTMessage?
    var isReading = false
    /// What the broker had no room for.
    var mustRepeat: Set<Repeated> = []
    /// Topics of elements that are no more, to be emptied.
    var stale: Set<String> = []
    let sent: SentValues
    private let interval: Duration

    private static let unused = UInt8.max

    init(_ key: ServiceKey, _ topics: ServiceTopics, interval: Duration, on loop: any EventLoop) {
        sent = SentValues(on: loop)
        self.key = key
        self.topics = topics
        self.interval = interval
        lanes = Lanes(interval: interval, keeping: .newest)
    }

    var event: MQTTBridgeEvent.Service { MQTTBridgeEvent.Service(service: key.service, name: key.name) }

    /// The service is connected, with these elements.
    ///
    /// - Returns: whether they are others than before.
    func connect(_ device: ElementalDevice, _ catalogue: ElementCatalogue, _ elements: [BridgedElement]) -> Bool {
        self.device = device
        guard self.catalogue != catalogue else { return false }
        let current = Set(elements.filter(\.reads).map(\.valueTopic.name))
        stale.formUnion(self.elements.map(\.valueTopic.name))
        stale.subtract(current)
        self.catalogue = catalogue
        self.elements = elements
        readings = elements.map { _ in Reading() }
        sent.removeAll()
        positions = [UInt8](repeating: Self.unused, count: 128)
        for (position, element) in elements.enumerated() { positions[Int(element.definition.id)] = UInt8(position) }
        lanes = Lanes(interval: interval, keeping: .newest)
        echoes = EchoFilter()
        return true
    }

    /// There is no connection, or nothing can be sent any more.
    func disconnect() {
        device = nil
        sent.removeAll()
    }

    /// The position of an element; `nil` for one that is not known, or not as it is.
    func position(of definition: ElementDefinition) -> Int? {
        let position = positions[Int(definition.id)]
        guard position != Self.unused, elements[Int(position)].definition == definition else { return nil }
        return Int(position)
    }

    /// The position of the element with that level.
    func position(ofLevel level: String) -> Int? { elements.firstIndex { $0.level == level } }

    subscript(position: Int) -> Reading {
        get { readings[position] }
        _modify { yield &readings[position] }
    }

    /// What Home Assistant is to be told, as it can be put together elsewhere.
    func draft(bridge: String, _ options: MQTTBridgeOptions) -> DiscoveryDraft {
        DiscoveryDraft(
            topics: topics, bridge: bridge, name: key.service == nil ? device?.name ?? key.name : key.name,
            service: key.service, elements: elements, pictureTypes: readings.map(\.pictureType), retained: retained,
            canSet: options.setsElements, choices: options.components)
    }
}
