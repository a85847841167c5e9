internal import NIOCore
internal import Support

/// What Home Assistant is told of a device: one retained message with all its entities.
///
/// https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload; needs Home Assistant 2024.11.
struct DiscoveryMessage: Sendable {
    let topics: ServiceTopics
    /// The availability of the bridge.
    let bridge: String
    /// The device's name, for people.
    let name: String
    /// The kind of service; `nil` for one by host and port.
    let service: String?
    let components: [Component]

    /// The message.
    ///
    /// - Parameter removed: entities that are to be removed, by their keys, each with its platform. To leave one out does
    ///   not remove it.
    func payload(removing removed: [String: String] = [:]) -> ByteBuffer {
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
            ("ids", .array([.string(topics.id)])), ("name", .string(name)), ("mf", .string("Elemental")),
        ]
        if let service { device.append(("mdl", .string(service))) }
        let message = JSONText.object([
            ("dev", .object(device)),
            ("o", .object([("name", .string("Elemental"))])),
            (
                "avty",
                .array([
                    .object([("t", .string(bridge))]), .object([("t", .string(topics.availability.name))]),
                ])
            ),
            ("avty_mode", .string("all")),
            ("cmps", .object(entries)),
        ])
        return ByteBuffer(string: message.text)
    }
}
