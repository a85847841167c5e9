import Elemental
import ElementalRecording
import Support

/// The values of several histories in the order of their times. Only the values of one answer of each history are in memory.
struct MergedHistories {
    enum Item {
        case value(RecordedItem)
        /// Missing values of a service's element.
        case gap(service: Int, ElementDefinition, HistoryGap)
    }

    private struct Source {
        let service: Int
        let device: ElementalDevice
        let element: ElementDefinition
        var values: HistoryValues<ElementValue>.Iterator
        /// The next value, with its time in seconds since 1970.
        var next: (value: ElementValue, time: Double)?
        /// The time by which the source is sorted among the others.
        var order = 0.0
    }

    /// The sources whose next value is not known yet; the last one is read first.
    private var unread: [Source] = []
    /// The sources with a next value, the latest first.
    private var waiting: [Source] = []

    /// A reading of each service's clock.
    private var clocks: [Int: ClockReading] = [:]

    mutating func add(
        _ values: HistoryValues<ElementValue>, _ element: ElementDefinition, of device: ElementalDevice, _ service: Int
    ) {
        let source = Source(service: service, device: device, element: element, values: values.makeAsyncIterator())
        unread.insert(source, at: 0)
    }

    /// The next value or gap; `nil` at the end of all.
    mutating func next() async throws(ElementalError) -> Item? {
        while var source = unread.popLast() {
            guard let item = try await source.values.next() else { continue }
            switch item {
            case .gap(let gap):
                unread.append(source)
                return .gap(service: source.service, source.element, gap)
            case .value(let value):
                // A value without a known time has the time of its arrival, and follows the source's previous value directly.
                let time = seconds(value, of: source)
                source.next = (value.value, time ?? WallClock.seconds)
                source.order = time ?? source.order
                // Sources with the same time that wait already come first.
                let index = waiting.firstIndex { $0.order <= source.order } ?? waiting.endIndex
                waiting.insert(source, at: index)
            }
        }
        guard let source = waiting.popLast(), let (value, time) = source.next else { return nil }
        unread.append(source)
        // In whole microseconds, as the service sent it.
        let microseconds = Int64(exactly: (time * 1e6).rounded()) ?? 0
        let recorded = RecordedValue(service: source.service, element: source.element, value: value, age: .zero)
        return .value(RecordedItem(time: .nanoseconds(microseconds &* 1000), content: .value(recorded)))
    }

    /// The value's time of day by one reading of the service's clock for all values with which it agrees: by several
    /// readings, a value could come before one that was measured a few microseconds earlier.
    private mutating func seconds(_ value: HistoryValue<ElementValue>, of source: Source) -> Double? {
        guard let time = value.serviceTime, let received = value.time else { return nil }
        if let clock = clocks[source.service], clock.agrees(with: received, at: time) { return clock.seconds(at: time) }
        guard let clock = source.device.clockReading, clock.agrees(with: received, at: time) else {
            return received.secondsHere
        }
        clocks[source.service] = clock
        return clock.seconds(at: time)
    }
}
