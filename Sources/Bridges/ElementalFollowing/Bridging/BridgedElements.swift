package import Elemental

/// An element as a bridge shows it.
package protocol BridgedElement: Sendable {
    var definition: ElementDefinition { get }
}

extension BridgedElement {
    package var reads: Bool { definition.access.contains(.read) }
    package var writes: Bool { definition.access.contains(.write) }
}

/// The elements of a service that a bridge shows, with what the bridge knows of each.
package struct BridgedElements<Element: BridgedElement, Reading> {
    /// `nil` while there is no connection.
    package private(set) var device: ElementalDevice?
    package private(set) var catalogue: ElementCatalogue?
    package private(set) var elements: [Element] = []
    /// What is known of each element.
    package var readings: [Reading] = []
    private var positions = ElementPositions()

    package init() {}

    /// The service is connected.
    ///
    /// - Parameters:
    ///   - elements: made if the catalogue is another one than before.
    ///   - reading: what is known of a new element.
    /// - Returns: the elements before, if the catalogue is another one.
    package mutating func connect<Failure>(
        _ device: ElementalDevice, _ catalogue: ElementCatalogue, _ reading: Reading,
        elements: () throws(Failure) -> [Element]
    ) throws(Failure) -> [Element]? {
        guard self.catalogue != catalogue else {
            self.device = device
            return nil
        }
        let (earlier, current) = (self.elements, try elements())
        self.device = device
        self.catalogue = catalogue
        self.elements = current
        readings = current.map { _ in reading }
        positions = ElementPositions(current.map(\.definition))
        return earlier
    }

    package mutating func disconnect() { device = nil }

    /// The position of an element; `nil` for one that is not known, or not with that definition.
    package func position(of definition: ElementDefinition) -> Int? {
        guard let position = positions[definition.id], elements[position].definition == definition else { return nil }
        return position
    }
}

/// A service that a bridge shows, on the bridge's event loop.
package protocol ServiceOfBridge: AnyObject {
    associatedtype Element: BridgedElement
    associatedtype Reading

    var known: BridgedElements<Element, Reading> { get set }
    /// The values for the service.
    var sent: SentValues { get }
    /// The values on their way out of the service.
    var outbound: Lanes { get set }
    /// Whether it is among the services with values that wait; for ``ValueRounds`` alone.
    var isWaiting: Bool { get set }
}

extension ServiceOfBridge {
    package var device: ElementalDevice? { known.device }
    package var catalogue: ElementCatalogue? { known.catalogue }
    package var elements: [Element] { known.elements }

    package func position(of definition: ElementDefinition) -> Int? { known.position(of: definition) }

    /// There is no connection, or nothing can be sent any more. What waits is old when there is one again.
    package func disconnect() {
        known.disconnect()
        sent.removeAll()
    }

    /// What is known of the element at that position.
    package subscript(position: Int) -> Reading {
        get { known.readings[position] }
        _modify { yield &known.readings[position] }
    }
}
