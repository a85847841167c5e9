internal import ElementalFollowing
import MQTT

struct BridgeTopics: Sendable {
    /// The first levels of all topics, `elemental` unless the options say otherwise.
    let base: String
    let discovery: DiscoveryTopics
    /// The topic of this bridge's availability, also used by its last will.
    let bridge: MQTTTopic
    /// The topic on which bridges of the same name detect each other.
    let session: MQTTTopic

    var allAvailability: String { "\(base)/+/+/\(TopicLevel.Reserved.availability)" }

    init(base: String, id: String, discovery: DiscoveryTopics = DiscoveryTopics()) throws(MQTTError) {
        self.base = base
        self.discovery = discovery
        let own = "\(base)/\(TopicLevel.Reserved.bridge)/\(id)"
        bridge = try MQTTTopic("\(own)/\(TopicLevel.Reserved.availability)")
        session = try MQTTTopic("\(own)/session")
    }

    func service(_ key: ServiceKey) throws(MQTTError) -> ServiceTopics {
        try ServiceTopics(key, base: base, discovery)
    }

    func availability(ofService path: String) throws(MQTTError) -> MQTTTopic {
        try MQTTTopic("\(base)/\(path)/\(TopicLevel.Reserved.availability)")
    }

    /// Returns the meaning of a topic that the broker sent.
    func place(of topic: String) -> Place? {
        if discovery.births.contains(topic) { return .birth }
        if topic == session.name { return .session }
        if let id = discovery.id(ofConfig: topic) { return .config(id: id) }
        guard topic.hasPrefix(base), topic.dropFirst(base.count).hasPrefix("/") else { return nil }
        let levels = topic.dropFirst(base.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        switch levels.count {
        case 3 where levels[2] == TopicLevel.Reserved.availability:
            return levels[0] == TopicLevel.Reserved.bridge
                ? .bridge(topic) : .availability(service: "\(levels[0])/\(levels[1])")
        case 4 where levels[3] == "set":
            return .set(service: "\(levels[0])/\(levels[1])", element: String(levels[2]), component: nil)
        case 5 where levels[4] == "set":
            guard let component = Int(levels[3]), component >= 0 else { return nil }
            return .set(service: "\(levels[0])/\(levels[1])", element: String(levels[2]), component: component)
        default: return nil
        }
    }

    /// The meaning of a topic. Services are identified by ``ServiceTopics/path``.
    enum Place: Equatable {
        case birth
        case session
        case config(id: String)
        case bridge(String)
        case availability(service: String)
        case set(service: String, element: String, component: Int?)
    }
}

struct DiscoveryTopics: Sendable {
    static let standardPrefix = "homeassistant"

    /// The topics of Home Assistant's birth message, which has its own setting there, apart from the prefix.
    let births: Set<String>
    private let configPrefix: String
    private static let configSuffix = "/config"

    init(prefix: String = standardPrefix) {
        births = ["\(Self.standardPrefix)/status", "\(prefix)/status"]
        configPrefix = "\(prefix)/device/"
    }

    var allConfigs: String { "\(configPrefix)+\(Self.configSuffix)" }

    func config(_ id: String) -> String { configPrefix + id + Self.configSuffix }

    /// The identifier of the device that a topic configures; `nil` if it is another topic.
    func id(ofConfig topic: String) -> String? {
        guard topic.hasPrefix(configPrefix), topic.hasSuffix(Self.configSuffix) else { return nil }
        let id = topic.dropFirst(configPrefix.count).dropLast(Self.configSuffix.count)
        return id.isEmpty || id.contains("/") ? nil : String(id)
    }
}

struct ServiceTopics: Sendable {
    /// The levels of the service's name and its instance's, with a slash between them.
    let path: String
    /// The device's identifier in Home Assistant, and the prefix of its entities' identifiers.
    let id: String
    let availability: MQTTTopic
    /// The topic of the device's description for Home Assistant.
    let config: MQTTTopic
    private let prefix: String

    init(_ key: ServiceKey, base: String, _ discovery: DiscoveryTopics) throws(MQTTError) {
        let service = key.service.map { TopicLevel.service($0) } ?? TopicLevel.Reserved.address
        let instance = TopicLevel.instance(key.name)
        path = "\(service)/\(instance)"
        id = Self.idPrefix(service) + instance
        prefix = "\(base)/\(path)"
        availability = try MQTTTopic("\(prefix)/\(TopicLevel.Reserved.availability)")
        config = try MQTTTopic(discovery.config(id))
    }

    static func idPrefix(_ service: String) -> String { "elemental_\(service)_" }

    func value(_ level: String) throws(MQTTError) -> MQTTTopic { try MQTTTopic("\(prefix)/\(level)") }
    /// Returns the topic on which the bridge publishes why a value was refused.
    func refused(_ level: String) throws(MQTTError) -> MQTTTopic { try MQTTTopic("\(prefix)/\(level)/refused") }
    func set(_ level: String, component: Int? = nil) -> String {
        "\(prefix)/\(level)" + (component.map { "/\($0)" } ?? "") + "/set"
    }

    func isValue(_ topic: String) -> Bool {
        guard topic.hasPrefix(prefix), topic.dropFirst(prefix.count).hasPrefix("/") else { return false }
        let level = topic.dropFirst(prefix.count + 1)
        return !level.isEmpty && !level.contains("/") && level != TopicLevel.Reserved.availability
    }

    var commands: [String] { ["\(prefix)/+/set", "\(prefix)/+/+/set"] }
}
