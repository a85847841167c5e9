import Elemental
import Support

struct ArrivedValue: Sendable {
    let element: ElementDefinition
    let value: ElementValue
    /// Seconds since 1970.
    let time: Double

    init(_ element: ElementDefinition, _ value: ElementValue, time: Double = WallClock.seconds) {
        self.element = element
        self.value = value
        self.time = time
    }

    var members: JSONText.Members {
        [("element", .string(element.name))] + element.members(value) + [("time", JSONText(time))]
    }
}

/// The arrival time of each element's newest value.
///
/// Values wait in a stream while the reader of the output is slow; here their times can be looked up meanwhile.
final class ArrivalTimes: Sendable {
    private let times = Locked<[Int8: Double]>([:])

    @discardableResult
    func note(_ element: ElementDefinition, _ value: ElementValue) -> ArrivedValue {
        let arrived = ArrivedValue(element, value)
        times.withLock { $0[element.id] = arrived.time }
        return arrived
    }

    func newest(_ element: ElementDefinition, of device: ElementalDevice) -> ArrivedValue? {
        guard let value = device.value(of: element) else { return nil }
        // No time is recorded between the device's storing the value and its calling the handlers: it arrives now.
        return ArrivedValue(element, value, time: times.withLock { $0[element.id] } ?? WallClock.seconds)
    }
}
