import Elemental
internal import ElementalFollowing
internal import NIOCore
internal import OSC

/// A service that is bridged. It belongs to the bridge's event loop.
final class BridgedService: ServiceOfBridge {
    let key: ServiceKey
    /// Unlike that of any other service of the bridge, earlier ones too.
    let number: UInt64
    /// The first level of its addresses.
    let level: String
    var known = BridgedElements<OSCElement, OSCElement.Reading>()
    var outbound = Lanes(interval: .zero, keeping: .bridged)
    var isWaiting = false
    let sent: SentValues

    init(_ key: ServiceKey, number: UInt64, level: String, on loop: any EventLoop) {
        sent = SentValues(on: loop)
        self.key = key
        self.number = number
        self.level = level
    }

    /// The service is connected.
    ///
    /// - Returns: the elements before, if it has others now.
    func connect(_ device: ElementalDevice, _ catalogue: ElementCatalogue) -> [OSCElement]? {
        let earlier = known.connect(device, catalogue, OSCElement.Reading()) {
            catalogue.map { definition in
                let level = OSCAddressLevel.level(definition.name)
                return OSCElement(definition: definition, address: "/\(self.level)/\(level)", level: level)
            }
        }
        for position in elements.indices { self[position].told = [] }
        if earlier != nil {
            sent.removeAll()
            outbound = Lanes(interval: .zero, keeping: .bridged)
        }
        return earlier
    }

    /// The level of an instance whose name another service's has too: with the service's name, and unlike any name's own.
    static func level(of key: ServiceKey) -> String {
        OSCAddressLevel.level(key.name) + "~:" + OSCAddressLevel.level(key.service ?? "")
    }

    func motionKey(_ position: Int) -> Surface.ElementKey {
        Surface.ElementKey(service: number, id: elements[position].definition.id)
    }
}
