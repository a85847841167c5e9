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

/// The bridge's state of a service besides its elements.
struct MQTTService {
    enum Repeated: Hashable {
        case availability, announcement, stale
    }

    let topics: ServiceTopics
    /// Filters echoes of elements marked latest.
    var echoes = EchoFilter()
    /// Whether the service is connected; `nil` before the first connection, when nothing is published.
    var isOnline: Bool?
    /// Whether the bridge has subscribed to the service's topics.
    var isSubscribed = false
    /// Whether the broker has answered the subscription. The service is published as online only then, since an earlier
    /// command would be lost.
    var takesCommands = false
    /// The entities that Home Assistant has of the service, as far as known.
    var retained = RetainedDiscovery()
    /// The availability topics of other bridges in the newest message about the service.
    var others: Set<String> = []
    /// The configuration that this bridge published last.
    var published: ByteBuffer?
    /// Whether an announcement is in progress, and whether another one has to follow.
    var isAnnouncing = false
    var mustAnnounce = false
    /// The newest message about the service that is not decoded yet, and whether one is being decoded.
    var unread: MQTTMessage?
    var isReading = false
    /// What the broker had no room for and has to be repeated.
    var unpublished: Set<Repeated> = []
    /// Topics of removed elements, to be emptied.
    var stale: Set<String> = []

    init(topics: ServiceTopics) { self.topics = topics }
}

extension BridgedService {
    /// - Returns: whether the catalogue has changed.
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

    /// Returns the input of a discovery message, which can then be built on another thread.
    func draft(bridge: String, _ options: MQTTBridgeOptions) -> DiscoveryDraft {
        DiscoveryDraft(
            topics: own.topics, bridge: bridge, name: key.service == nil ? device?.name ?? key.name : key.name,
            service: key.service, elements: elements, pictureTypes: readings.map(\.pictureType),
            retained: own.retained, canSet: options.setsElements, choices: options.components)
    }
}
