import Elemental
internal import ElementalFollowing
import MQTT

/// An element of a bridged service with its topics.
struct MQTTElement: BridgedElement {
    let definition: ElementDefinition
    let level: String
    let valueTopic: MQTTTopic
    let refusedTopic: MQTTTopic

    static func all(of catalogue: ElementCatalogue, _ topics: ServiceTopics) throws(MQTTError) -> [MQTTElement] {
        let levels = TopicLevel.elements(catalogue.map { ($0.id, $0.name) })
        var elements: [MQTTElement] = []
        for definition in catalogue {
            guard let level = levels[definition.id] else { continue }
            elements.append(
                MQTTElement(
                    definition: definition, level: level, valueTopic: try topics.value(level),
                    refusedTopic: try topics.refused(level)))
        }
        return elements
    }
}
