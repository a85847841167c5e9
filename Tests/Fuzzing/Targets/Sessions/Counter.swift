import Elemental
import NIOConcurrencyHelpers

/// Counts what handlers are told of each device. It keeps no device, which would keep the handlers that keep it.
final class Counter: Sendable {
    private let counts = NIOLockedValueBox<[ObjectIdentifier: Int]>([:])

    func count(_ device: ElementalDevice) { counts.withLockedValue { $0[ObjectIdentifier(device), default: 0] += 1 } }

    func count(of device: ElementalDevice) -> Int { counts.withLockedValue { $0[ObjectIdentifier(device)] ?? 0 } }
}
