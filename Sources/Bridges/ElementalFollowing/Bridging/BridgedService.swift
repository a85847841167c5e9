package import Elemental
package import NIOCore

package protocol BridgedElement: Sendable {
    var definition: ElementDefinition { get }
}

extension BridgedElement {
    package var reads: Bool { definition.access.contains(.read) }
    package var writes: Bool { definition.access.contains(.write) }
}

/// A service that a bridge shows, with the bridge's own state. It belongs to the bridge's event loop.
package final class BridgedService<Element: BridgedElement, Reading, Own> {
    package let key: ServiceKey
    /// What this kind of bridge stores beside the common state.
    package var own: Own
    /// `nil` while there is no connection.
    package private(set) var device: ElementalDevice?
    package private(set) var catalogue: ElementCatalogue?
    package private(set) var elements: [Element] = []
    package private(set) var readings: [Reading] = []
    /// The values that wait to leave the service.
    package var outbound: Lanes
    /// Whether the service has waiting values; used only by ``ValueRounds``.
    package internal(set) var isWaiting = false
    package let sent: SentValues
    private let noValues: Lanes
    private var positions: [Int8: Int] = [:]

    /// - Parameter outbound: an empty copy.
    package init(_ key: ServiceKey, _ own: Own, outbound: Lanes, on loop: any EventLoop) {
        self.key = key
        self.own = own
        self.outbound = outbound
        noValues = outbound
        sent = SentValues(on: loop)
    }

    /// The service is connected. If its catalogue has changed, waiting values of the old one are dropped.
    ///
    /// - Parameters:
    ///   - elements: called if the catalogue has changed.
    ///   - reading: the initial state of a new element.
    /// - Returns: the earlier elements, if the catalogue has changed.
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

    /// There is no connection, or nothing can be sent any more. Waiting values would be stale when there is one again.
    package func disconnect() {
        device = nil
        sent.removeAll()
    }

    /// Returns the position of an element; `nil` if it is unknown or has another definition.
    package func position(of definition: ElementDefinition) -> Int? {
        guard let position = positions[definition.id], elements[position].definition == definition else { return nil }
        return position
    }

    /// Handles a value or refusal from the service, which also settles what it was sent.
    ///
    /// - Returns: the element's position; `nil` if it is unknown.
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
