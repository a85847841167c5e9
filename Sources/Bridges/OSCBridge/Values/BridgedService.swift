import Elemental
internal import ElementalFollowing
internal import OSC

typealias BridgedService = ElementalFollowing.BridgedService<OSCElement, OSCElement.Reading, OSCService>

/// The bridge's state of a service besides its elements.
struct OSCService {
    /// Unique among all services of the bridge, including earlier ones.
    let number: UInt64
    /// The first level of its addresses.
    let level: String
}

extension BridgedService {
    /// - Returns: the earlier elements, if the catalogue has changed.
    func connect(
        _ device: ElementalDevice, _ catalogue: ElementCatalogue, names: [String: String]
    ) -> [OSCElement]? {
        let earlier = connect(device, catalogue, OSCElement.Reading()) {
            var taken = Set(catalogue.map(\.name))
            return catalogue.map { definition in
                let name = names[definition.name].flatMap { taken.insert($0).inserted ? $0 : nil }
                let level = OSCAddressLevel.level(name ?? definition.name)
                return OSCElement(definition: definition, address: "/\(own.level)/\(level)", level: level)
            }
        }
        for position in elements.indices { self[position].told = [] }
        return earlier
    }

    func motionKey(_ position: Int) -> Surface.ElementKey {
        Surface.ElementKey(service: own.number, id: elements[position].definition.id)
    }
}

struct OSCElement: BridgedElement {
    let definition: ElementDefinition
    let address: String
    /// The address's last level.
    let level: String

    struct Reading: Sendable {
        var newest: ElementValue?
        /// Problems that were reported since the service was connected.
        var told: Set<String> = []
    }
}
