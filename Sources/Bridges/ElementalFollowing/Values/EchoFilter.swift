package import Elemental
internal import Support

/// Recognizes values of `latest` elements that only come back: the newest of each element that passed in either
/// direction. Long values are recognized by a hash and not kept.
package final class EchoFilter: Sendable {
    private enum Passed: Equatable {
        case value(ElementValue)
        case long(hash: Int)

        init(_ value: ElementValue) {
            self = value.wireByteCount <= EchoFilter.longByteCount ? .value(value) : .long(hash: value.hashOfBytes)
        }
    }

    /// Values up to this length are kept, so that 128 elements take at most 128 KiB.
    private static let longByteCount = 1024

    private let passed = Locked<[Int8: Passed]>([:])

    package init() {}

    /// Whether a value is to be passed on, which it is then taken to be. Of an element that is not marked latest every
    /// value is.
    package func isNews(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        guard element.latest else { return true }
        let value = Passed(value)
        return passed.withLock { $0.updateValue(value, forKey: element.id) != value }
    }

    /// The newest value: the one that passed, or the service's own if none did or the element is not marked latest.
    /// `nil` if a long one passed that is not the service's own: it is not kept.
    package func newest(of element: ElementDefinition, own: @autoclosure () -> ElementValue?) -> ElementValue? {
        guard let passed = passed.withLock({ $0[element.id] }) else { return own() }
        if case .value(let value) = passed { return value }
        guard let own = own(), Passed(own) == passed else { return nil }
        return own
    }

    /// What passed last was not accepted: the next value is news, whatever it is.
    package func forget(_ element: ElementDefinition) { passed.withLock { $0[element.id] = nil } }
}

extension ElementValue {
    /// A hash of all bytes of a text or data. The hash that data have of themselves is that of their first bytes.
    fileprivate var hashOfBytes: Int {
        var hasher = Hasher()
        switch self {
        case .string(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .data(let data): data.withUnsafeBytes { hasher.combine(bytes: $0) }
        default: hasher.combine(self)
        }
        return hasher.finalize()
    }
}
