import Elemental
internal import NIOCore
internal import Support

/// What goes into a device's discovery message.
struct DiscoveryDraft: Sendable {
    let topics: ServiceTopics
    /// The availability of the bridge.
    let bridge: String
    let name: String
    /// The kind of service; `nil` for one by host and port.
    let service: String?
    let elements: [MQTTElement]
    let pictureTypes: [String?]
    /// What was told before.
    let retained: RetainedDiscovery
    let canSet: Bool
    /// What elements are to be, by their names.
    let choices: [String: MQTTComponent]

    /// Where an element cannot be what the options ask, it appears as follows from its type.
    func message() -> DiscoveryMessage {
        var components: [Component] = []
        var problems: [MQTTBridgeError] = []
        for (element, pictureType) in zip(elements, pictureTypes) {
            let mapping = ComponentMapping(shown: element, topics: topics, canSet: canSet, pictureType: pictureType)
            do throws(MQTTBridgeError) {
                components += try mapping.components(as: choices[element.definition.name])
            } catch {
                problems.append(error)
                components += (try? mapping.components()) ?? []
            }
        }
        return DiscoveryMessage(draft: self, components: components, problems: problems)
    }
}

/// What Home Assistant is told of a device: one retained message with all its entities.
///
/// https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload; needs Home Assistant 2024.11.
struct DiscoveryMessage: Sendable {
    let draft: DiscoveryDraft
    let components: [Component]
    /// Why elements cannot be shown as the options ask.
    let problems: [MQTTBridgeError]

    /// The entities' platforms by their keys.
    var platforms: [String: String] { Dictionary(components.map { ($0.key, $0.platform) }) { first, _ in first } }

    /// - Parameter removed: entities that are to be removed, by their keys, each with its platform. To leave one out does
    ///   not remove it.
    func payload(removing removed: [String: String] = [:]) -> ByteBuffer {
        let topics = draft.topics
        var entries: JSONText.Members = components.filter { removed[$0.key] == nil }.map { component in
            let identity: JSONText.Members = [
                ("p", .string(component.platform)), ("uniq_id", .string("\(topics.id)_\(component.key)")),
            ]
            return (component.key, .object(identity + component.members))
        }
        for (key, platform) in removed.sorted(by: { $0.key < $1.key }) {
            entries.append((key, .object([("p", .string(platform))])))
        }
        var device: JSONText.Members = [
            ("ids", .array([.string(topics.id)])), ("name", .string(draft.name)), ("mf", .string("Elemental")),
        ]
        if let service = draft.service { device.append(("mdl", .string(service))) }
        let availability = [draft.bridge, topics.availability.name]
        let message = JSONText.object([
            ("dev", .object(device)), ("o", .object([("name", .string("Elemental"))])),
            ("avty", .array(availability.map { .object([("t", .string($0))]) })), ("avty_mode", .string("all")),
            ("cmps", .object(entries)),
        ])
        return ByteBuffer(string: message.text)
    }
}

extension ElementValue {
    /// The content type of a picture that Home Assistant shows, by how it begins; `nil` for anything else.
    var pictureType: String? {
        guard case .data(let data) = self else { return nil }
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if data.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if data.starts(with: Array("GIF87a".utf8)) || data.starts(with: Array("GIF89a".utf8)) { return "image/gif" }
        return nil
    }
}
