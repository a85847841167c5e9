import Elemental

/// What goes into a device's discovery message.
struct DiscoveryDraft: Sendable {
    let topics: ServiceTopics
    let bridge: String
    let name: String
    let service: String?
    let elements: [MQTTElement]
    /// The content types of the elements' pictures.
    let pictureTypes: [String?]
    /// What was told before.
    let retained: RetainedDiscovery
    /// Whether the broker's clients set elements.
    let canSet: Bool
    /// What elements are to be, by their names.
    let choices: [String: MQTTComponent]

    /// The message, and what keeps elements from being what the options ask; these appear as follows from their types.
    func message() -> (message: DiscoveryMessage, problems: [MQTTBridgeError]) {
        var components: [Component] = []
        var problems: [MQTTBridgeError] = []
        for (element, pictureType) in zip(elements, pictureTypes) {
            let mapping = ComponentMapping(canSet: canSet, pictureType: pictureType)
            let elementTopics = ComponentMapping.Topics(value: element.valueTopic.name) { [topics] component in
                topics.set(element.level, component: component)
            }
            let definition = element.definition
            do throws(MQTTBridgeError) {
                components += try mapping.components(
                    of: definition, elementTopics, as: choices[definition.name])
            } catch {
                problems.append(error)
                components += (try? mapping.components(of: definition, elementTopics)) ?? []
            }
        }
        let message = DiscoveryMessage(
            topics: topics, bridge: bridge, name: name, service: service, components: components)
        return (message, problems)
    }
}
