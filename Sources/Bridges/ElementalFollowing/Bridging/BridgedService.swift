package import Elemental
package import NIOCore

package protocol BridgedElement: Sendable {
    var definition: ElementDefinition { get }
}

extension BridgedElement {
    package var reads: Bool { definition.access.contains(.read) }
    package var writes: Bool { definition.access.contains(.write) }
}

/// A service that a bridge shows, with what the bridge knows of it. It belongs to the bridge's event loop.
package final class BridgedService<Element: BridgedElement, Reading, Own> {
    package let key: ServiceKey
    /// What else the bridge knows of the service.
    package var own: Own
    /// `nil` while there is no connection.
    package private(set) var device: ElementalDevice?
    package private(set) var catalogue: ElementCatalogue?
    package private(set) var elements: [Element] = []
    package private(set) var readings: [Reading] = []
    /// The values on their way out of the service.
    package var outbound: Lanes
    /// Whether it is among the services with values that wait; for ``ValueRounds`` alone.
    package internal(set) var isWaiting = false
    package let sent: SentValues
    private let noValues: Lanes
    private var positions: [Int8: Int] = [:]

    /// - Parameter outbound: without values.
    package init(_ key: ServiceKey, _ own: Own, outbound: Lanes, on loop: any EventLoop) {
        self.key = key
        self.own = own
        self.outbound = outbound
        noValues = outbound
        sent = SentValues(on: loop)
    }

    /// The service is connected. Values of other elements than it has now are dropped.
    ///
    /// - Parameters:
    ///   - elements: made if the catalogue is another one than before.
    ///   - reading: what is known of a new element.
    /// - Returns: the elements before, if the catalogue is another one.
    package func connect<Failure>(
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
        positions = Dictionary(uniqueKeysWithValues: current.enumerated().map { ($1.definition.id, $0) })
        sent.removeAll()
        outbound = noValues
        return earlier
    }

    /// There is no connection, or nothing can be sent any more. What waits is old when there is one again.
    package func disconnect() {
        device = nil
        sent.removeAll()
    }

    /// The position of an element; `nil` for one that is not known, or not with that definition.
    package func position(of definition: ElementDefinition) -> Int? {
        guard let position = positions[definition.id], elements[position].definition == definition else { return nil }
        return position
    }

    /// The service has said something of an element, and with it what became of what it was sent.
    ///
    /// - Returns: the element's position; `nil` for one that is not known.
    package func answered(_ definition: ElementDefinition) -> Int? {
        guard let position = position(of: definition) else { return nil }
        sent.answered(definition)
        return position
    }

    package subscript(position: Int) -> Reading {
        get { readings[position] }
        _modify { yield &readings[position] }
    }
}
