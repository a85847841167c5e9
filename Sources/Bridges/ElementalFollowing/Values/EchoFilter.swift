package import Elemental
internal import Support

/// Detects echoes of `latest` elements: values equal to the newest one that passed in either direction. Of a long value
/// only a hash is kept.
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

    /// Returns whether to pass a value on, and records it as passed. Returns always `true` for an element that is not
    /// marked latest.
    package func isNews(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        guard element.latest else { return true }
        let value = Passed(value)
        return passed.withLock { $0.updateValue(value, forKey: element.id) != value }
    }

    /// Returns the newest value: the one that passed, or the service's own if none did or the element is not marked
    /// latest. Returns `nil` if a long value passed that differs from the service's own, since only its hash is kept.
    package func newest(of element: ElementDefinition, own: @autoclosure () -> ElementValue?) -> ElementValue? {
        guard let passed = passed.withLock({ $0[element.id] }) else { return own() }
        if case .value(let value) = passed { return value }
        guard let own = own(), Passed(own) == passed else { return nil }
        return own
    }

    /// Forgets the last value, which was not accepted, so that the next one is passed on in any case.
    package func forget(_ element: ElementDefinition) { passed.withLock { $0[element.id] = nil } }
}

extension ElementValue {
    /// A hash of all bytes of a text or data. The `Hashable` conformance of `Data` covers only the first bytes.
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
