internal import ElementalFollowing
internal import MQTT
internal import Support

/// What a bridge tells a broker, and what it lets the broker's clients do.
public struct MQTTBridgeOptions: Sendable {
    /// Who is told of the services besides those who subscribe to their topics.
    public enum Discovery: String, Sendable, Hashable, CaseIterable {
        /// Home Assistant, which then shows each service as a device: 2024.11 and later.
        case homeAssistant = "homeassistant"
        /// Nobody.
        case none
    }

    /// The first levels of all topics but those of the discovery: `a`…`z`, digits, `_` and `-`, with slashes between them.
    public var base = "elemental"
    /// This bridge's name in its availability topic: one level as in ``base``. Bridges to one broker have different ones.
    public var id = MQTTBridgeOptions.standardID
    /// Who is told of the services.
    public var discovery = Discovery.homeAssistant
    /// The first levels of the topics of Home Assistant's discovery, as it was configured there: letters, digits, `_` and `-`,
    /// with slashes between them.
    public var discoveryPrefix = DiscoveryTopics.standardPrefix
    /// The shortest time between two values of one element on their way to the broker, of which the newest passes; zero
    /// for no limit. The first value after a pause passes at once.
    public var interval: Duration = .milliseconds(500)
    /// Whether the broker's clients set elements: whoever may publish there controls the services.
    public var setsElements = false
    /// How elements appear in Home Assistant where that is not to follow from their types, by the elements' names.
    public var components: [String: MQTTComponent] = [:]

    /// The defaults.
    public init() {}

    /// The identifier of a bridge that was given none: this machine's name.
    public static var standardID: String { TopicLevel.instance(HostName.current) }

    /// - Throws: ``MQTTBridgeError`` for an invalid ``base``, ``id`` or ``discoveryPrefix``.
    public func check() throws(MQTTBridgeError) {
        let levels = base.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.allSatisfy(\.isTopicLevel), base.utf8.count <= 128 else {
            throw MQTTBridgeError(
                "'\(base)' cannot be the base of topics: it takes levels of a…z, digits, _ and - with slashes between them"
            )
        }
        let prefix = discoveryPrefix.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard prefix.allSatisfy(\.isTopicLevel), discoveryPrefix.utf8.count <= 128, discoveryPrefix != base else {
            throw MQTTBridgeError(
                "'\(discoveryPrefix)' cannot be the prefix of the discovery: it takes levels of letters, digits, _ and - with "
                    + "slashes between them, and is not the base")
        }
        guard id.isTopicLevel, id.utf8.count <= 64 else {
            throw MQTTBridgeError("'\(id)' cannot be the name of a bridge: it takes a…z, digits, _ and -")
        }
        guard interval >= .zero else { throw MQTTBridgeError("the interval between values cannot be below zero") }
    }
}

/// A mistake in a bridge's options.
public struct MQTTBridgeError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let message: String
    public var description: String { message.printable }

    init(_ message: String) { self.message = message }
}
