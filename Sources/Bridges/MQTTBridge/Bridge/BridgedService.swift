import Elemental
internal import ElementalFollowing
import MQTT
internal import NIOCore

typealias BridgedService = ElementalFollowing.BridgedService<MQTTElement, MQTTReading, MQTTService>

struct MQTTReading {
    var newest: ElementValue?
    /// The content type of the pictures among its values.
    var pictureType: String?
    /// The hash of the last command, which a broker may send twice.
    var lastCommand: Int?
}

/// What the bridge knows of a service besides its elements.
struct MQTTService {
    enum Repeated: Hashable {
        case availability, announcement, stale
    }

    let topics: ServiceTopics
    /// The newest values that passed, of elements marked latest.
    var echoes = EchoFilter()
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

    init(topics: ServiceTopics) { self.topics = topics }
}

extension BridgedService {
    /// - Returns: whether its elements are others than before.
    func connect(_ device: ElementalDevice, _ catalogue: ElementCatalogue) throws(MQTTError) -> Bool {
        let earlier = try connect(device, catalogue, MQTTReading()) { () throws(MQTTError) in
            try MQTTElement.all(of: catalogue, own.topics)
        }
        guard let earlier else { return false }
        own.stale.formUnion(earlier.map(\.valueTopic.name))
        own.stale.subtract(elements.filter(\.reads).map(\.valueTopic.name))
        own.echoes = EchoFilter()
        return true
    }

    func position(ofLevel level: String) -> Int? { elements.firstIndex { $0.level == level } }

    /// What Home Assistant is to be told, as it can be put together elsewhere.
    func draft(bridge: String, _ options: MQTTBridgeOptions) -> DiscoveryDraft {
        DiscoveryDraft(
            topics: own.topics, bridge: bridge, name: key.service == nil ? device?.name ?? key.name : key.name,
            service: key.service, elements: elements, pictureTypes: readings.map(\.pictureType),
            retained: own.retained, canSet: options.setsElements, choices: options.components)
    }
}
