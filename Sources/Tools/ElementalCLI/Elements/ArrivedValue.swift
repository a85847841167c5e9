import Elemental

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value that came, and when.
struct ArrivedValue: Sendable {
    let element: ElementDefinition
    let value: ElementValue
    let time: Date

    init(_ element: ElementDefinition, _ value: ElementValue, time: Date = Date()) {
        self.element = element
        self.value = value
        self.time = time
    }

    /// Seconds since 1970, to the microsecond: a `Double` has no more.
    var unixTime: Double { (time.timeIntervalSince1970 * 1e6).rounded() / 1e6 }
}

/// When the newest value of each element came.
///
/// It outlives a value's way through a stream, which takes as long as the reader of the output does.
final class ArrivalTimes: Sendable {
    private let times = Locked<[Int8: Date]>([:])

    /// Notes a value that comes now.
    @discardableResult
    func note(_ element: ElementDefinition, _ value: ElementValue) -> ArrivedValue {
        let arrived = ArrivedValue(element, value)
        times.withLock { $0[element.id] = arrived.time }
        return arrived
    }

    /// The element's newest value, if one came.
    func newest(_ element: ElementDefinition, of device: ElementalDevice) -> ArrivedValue? {
        guard let value = device.value(of: element) else { return nil }
        // None is noted while the loop that took the value is on its way to the handlers: it comes now.
        return ArrivedValue(element, value, time: times.withLock { $0[element.id] } ?? Date())
    }
}
