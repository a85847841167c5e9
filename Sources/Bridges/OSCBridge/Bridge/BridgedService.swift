import Elemental
internal import ElementalFollowing
internal import NIOCore
internal import OSC

/// An element of a bridged service.
struct BridgedElement: Sendable {
    let definition: ElementDefinition
    /// Its OSC address.
    let address: String
    /// The last level of that.
    let level: String

    var reads: Bool { definition.access.contains(.read) }
    var writes: Bool { definition.access.contains(.write) }
}

/// A service that is bridged. It belongs to the bridge's event loop.
final class BridgedService {
    /// What is known of an element's value.
    struct Reading: Sendable {
        var newest: ElementValue?
        /// Problems that were told, each once until it is over.
        var told: Set<String> = []
    }

    /// The most values of an element, not marked latest, that wait in one direction, and bytes of all of them.
    private static let keeping = Lanes.Keeping.all(limit: 4096, byteLimit: 1 << 20)

    let key: ServiceKey
    /// Unlike that of any other service of the bridge, earlier ones too.
    let number: UInt64
    /// The first level of its addresses.
    let level: String
    private(set) var device: ElementalDevice?
    private(set) var catalogue: ElementCatalogue?
    private(set) var elements: [BridgedElement] = []
    private var positions = [UInt8](repeating: unused, count: 128)
    private(set) var readings: [Reading] = []
    /// Values on their way to the surfaces.
    var outbound = Lanes(interval: .zero, keeping: keeping)
    /// Values on their way to the service.
    var inbound = Lanes(interval: .zero, keeping: keeping)
    /// Whether it is in the bridge's list of services with values for surfaces.
    var isWaiting = false
    /// Whether values for the service are tried again soon.
    var isRetrying = false
    let sent: SentValues

    private static let unused = UInt8.max

    init(_ key: ServiceKey, number: UInt64, level: String, on loop: any EventLoop) {
        sent = SentValues(on: loop)
        self.key = key
        self.number = number
        self.level = level
    }

    func place(_ position: Int) -> OSCBridgeEvent.Place {
        OSCBridgeEvent.Place(service: key.service, name: key.name, address: elements[position].address)
    }

    /// The service is connected, with these elements.
    ///
    /// - Returns: whether they are others than before.
    func connect(_ device: ElementalDevice, _ catalogue: ElementCatalogue) -> Bool {
        self.device = device
        for position in readings.indices { readings[position].told = [] }
        guard self.catalogue != catalogue else { return false }
        self.catalogue = catalogue
        elements = catalogue.map { definition in
            let level = OSCAddressLevel.level(definition.name)
            return BridgedElement(definition: definition, address: "/\(self.level)/\(level)", level: level)
        }
        readings = elements.map { _ in Reading() }
        sent.removeAll()
        positions = [UInt8](repeating: Self.unused, count: 128)
        for (position, element) in elements.enumerated() { positions[Int(element.definition.id)] = UInt8(position) }
        outbound = Lanes(interval: .zero, keeping: Self.keeping)
        inbound = Lanes(interval: .zero, keeping: Self.keeping)
        return true
    }

    /// There is no connection. What waits for it is old when there is one again.
    func disconnect() {
        device = nil
        inbound = Lanes(interval: .zero, keeping: Self.keeping)
        sent.removeAll()
    }

    /// The level of an instance whose name another service's has too: with the service's name, and unlike any name's own.
    static func level(of key: ServiceKey) -> String {
        OSCAddressLevel.level(key.name) + "~:" + OSCAddressLevel.level(key.service ?? "")
    }

    func motionKey(_ position: Int) -> Surface.ElementKey {
        Surface.ElementKey(service: number, id: elements[position].definition.id)
    }

    /// The position of an element; `nil` for one that is not known, or not as it is.
    func position(of definition: ElementDefinition) -> Int? {
        let position = positions[Int(definition.id)]
        guard position != Self.unused, elements[Int(position)].definition == definition else { return nil }
        return Int(position)
    }

    subscript(position: Int) -> Reading {
        get { readings[position] }
        _modify { yield &readings[position] }
    }
}
