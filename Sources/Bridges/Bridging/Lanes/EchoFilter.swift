package import Elemental
internal import Support

/// Recognizes values of `latest` elements that only come back: the newest of each element that passed in either
/// direction.
package final class EchoFilter: Sendable {
    private let passed = Locked<[Int8: ElementValue]>([:])

    package init() {}

    /// Whether a value is to be passed on, which it is then taken to be. Of an element that is not marked latest every
    /// value is.
    package func isNews(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        guard element.latest else { return true }
        return passed.withLock { $0.updateValue(value, forKey: element.id) != value }
    }

    /// The newest value that passed; `nil` if none did, or the element is not marked latest.
    package func newest(of element: ElementDefinition) -> ElementValue? { passed.withLock { $0[element.id] } }

    /// What passed last was not accepted: the next value is news, whatever it is.
    package func forget(_ element: ElementDefinition) { passed.withLock { $0[element.id] = nil } }
}
