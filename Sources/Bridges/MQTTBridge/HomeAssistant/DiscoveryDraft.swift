import Elemental
internal import NIOCore
internal import Support

/// The input of a device's discovery message.
struct DiscoveryDraft: Sendable {
    let topics: ServiceTopics
    /// The availability topic of the bridge.
    let bridge: String
    let name: String
    /// The service's name; `nil` for a service given by host and port.
    let service: String?
    let elements: [MQTTElement]
    let pictureTypes: [String?]
    /// What an earlier message described.
    let retained: RetainedDiscovery
    let canSet: Bool
    /// The user's choices for elements, by their names.
    let choices: [String: MQTTComponent]

    /// Builds the message. An element that cannot be what the user has chosen gets the component that follows from its
    /// type.
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

/// The description of a device for Home Assistant: one retained message with all its entities.
///
/// https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload; needs Home Assistant 2024.11.
struct DiscoveryMessage: Sendable {
    let draft: DiscoveryDraft
    let components: [Component]
    /// Why elements cannot be what the user has chosen.
    let problems: [MQTTBridgeError]

    /// The entities' platforms by their keys.
    var platforms: [String: String] { Dictionary(components.map { ($0.key, $0.platform) }) { first, _ in first } }

    /// - Parameter removed: platforms of the entities to remove, by their keys. Leaving an entity out of a message does
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
    /// The content type of a picture that Home Assistant can show, found by its first bytes; `nil` for anything else.
    var pictureType: String? {
        guard case .data(let data) = self else { return nil }
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if data.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if data.starts(with: Array("GIF87a".utf8)) || data.starts(with: Array("GIF89a".utf8)) { return "image/gif" }
        return nil
    }
}
