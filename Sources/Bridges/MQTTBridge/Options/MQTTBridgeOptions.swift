internal import ElementalFollowing
internal import MQTT
internal import Support

/// What a bridge publishes to a broker, and what the broker's clients may do.
public struct MQTTBridgeOptions: Sendable {
    /// The program for which the services are announced, besides the clients that subscribe to their topics.
    public enum Discovery: String, Sendable, Hashable, CaseIterable {
        /// Home Assistant 2024.11 or later, which then shows each service as a device.
        case homeAssistant = "homeassistant"
        /// No announcement.
        case none
    }

    /// The first levels of all topics except discovery topics: `a`…`z`, digits, `_` and `-`, separated by slashes.
    public var base = "elemental"
    /// This bridge's name in its availability topic: one level as in ``base``, unique among the bridges to one broker.
    public var id = MQTTBridgeOptions.standardID
    /// How the services are announced.
    public var discovery = Discovery.homeAssistant
    /// The first levels of Home Assistant's discovery topics, as configured there: letters, digits, `_` and `-`,
    /// separated by slashes.
    public var discoveryPrefix = DiscoveryTopics.standardPrefix
    /// The minimum time between two values of one element to the broker; zero for no limit. In between only the newest
    /// one is kept. The first value after a pause passes at once.
    public var interval: Duration = .milliseconds(500)
    /// Whether the broker's clients can set elements. If so, every client that may publish there controls the services.
    public var setsElements = false
    /// How elements appear in Home Assistant, by their names. All others follow from their types.
    public var components: [String: MQTTComponent] = [:]

    /// Creates options with the defaults.
    public init() {}

    /// The default identifier of a bridge: this machine's name.
    public static var standardID: String { TopicLevel.instance(HostName.current) }

    /// Checks the options.
    ///
    /// - Throws: ``MQTTBridgeError`` for an invalid ``base``, ``id`` or ``discoveryPrefix``, or a negative
    ///   ``interval``.
    public func check() throws(MQTTBridgeError) {
        let levels = base.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.allSatisfy(\.isTopicLevel), base.utf8.count <= 128 else {
            throw MQTTBridgeError(
                "'\(base)' cannot be the base of topics: use levels of a…z, digits, _ and -, separated by slashes"
            )
        }
        let prefix = discoveryPrefix.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard prefix.allSatisfy(\.isTopicLevel), discoveryPrefix.utf8.count <= 128, discoveryPrefix != base else {
            throw MQTTBridgeError(
                "'\(discoveryPrefix)' cannot be the discovery prefix: use levels of letters, digits, _ and -, separated by "
                    + "slashes, different from the base")
        }
        guard id.isTopicLevel, id.utf8.count <= 64 else {
            throw MQTTBridgeError("'\(id)' cannot be the name of a bridge: use a…z, digits, _ and -")
        }
        guard interval >= .zero else { throw MQTTBridgeError("the interval between values cannot be below zero") }
    }
}

/// An invalid option of a bridge.
public struct MQTTBridgeError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let message: String
    /// The message with control characters escaped.
    public var description: String { message.printable }

    init(_ message: String) { self.message = message }
}
