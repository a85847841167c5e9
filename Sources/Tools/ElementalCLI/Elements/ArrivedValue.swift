import Elemental
import ElementalFollowing
import ElementalRecording
import ElementalWire
import Support

struct ArrivedValue: Sendable {
    let element: ElementDefinition
    let value: ElementValue
    /// When it was measured, if the peer reports this, or else when it arrived, in seconds since 1970.
    let time: Double
    /// The maximum error of the time of measurement, in seconds; `nil` for a time of arrival.
    let timeError: Double?
    /// The position of a value of the element's history, after which the history continues.
    var position: HistoryPosition?

    init(
        _ element: ElementDefinition, _ value: ElementValue, time: Double = WallClock.seconds, timeError: Double? = nil
    ) {
        self.element = element
        self.value = value
        self.time = time
        self.timeError = timeError
    }

    /// The value that a handler was called with, or the newest one.
    init(_ element: ElementDefinition, _ value: ElementValue, from device: ElementalDevice) {
        if let received = device.time(of: element) {
            self.init(element, value, time: received.secondsHere, timeError: received.error / .seconds(1))
        } else {
            self.init(element, value)
        }
    }

    /// A value of the element's history.
    init(_ element: ElementDefinition, _ kept: HistoryValue<ElementValue>) {
        self.init(
            element, kept.value, time: kept.time?.secondsHere ?? WallClock.seconds,
            timeError: kept.time.map { $0.error / .seconds(1) })
        position = kept.position
    }

    var members: JSONText.Members {
        [("element", .string(element.name))] + element.members(value) + [("time", JSONText(time))]
            + (timeError.map { [("timeError", JSONText(($0 * 1e6).rounded(.up) / 1e6))] } ?? [])
            + (position.map { [("position", .string($0.description))] } ?? [])
    }
}

/// The arrival time of each element's newest value.
///
/// Values wait in a stream while the reader of the output is slow. Their times can be looked up here meanwhile.
final class ArrivalTimes: Sendable {
    private let times = Locked<[Int8: (time: Double, error: Double?)]>([:])

    @discardableResult
    func note(_ element: ElementDefinition, _ value: ElementValue, from device: ElementalDevice) -> ArrivedValue {
        let arrived = ArrivedValue(element, value, from: device)
        times.withLock { $0[element.id] = (arrived.time, arrived.timeError) }
        return arrived
    }

    func newest(_ element: ElementDefinition, of device: ElementalDevice) -> ArrivedValue? {
        guard let value = device.value(of: element) else { return nil }
        // The device has stored the value but not called the handlers yet, so no time is recorded: the value arrives now.
        let known = times.withLock { $0[element.id] }
        return ArrivedValue(element, value, time: known?.time ?? WallClock.seconds, timeError: known?.error)
    }
}

struct ValueEvent: ConsoleEvent {
    let arrived: ArrivedValue
    let key: ServiceKey

    var isResult: Bool { true }

    var lines: [String] {
        let line = arrived.element.line(arrived.value)
        guard arrived.position != nil else { return [line] }
        let microseconds = UInt64(exactly: (arrived.time * 1e6).rounded()) ?? 0
        return ["\(Timestamp(nanoseconds: microseconds &* 1000).text) \(line)"]
    }

    var json: JSONText { .event("value", JSONText.members(key) + arrived.members) }
}

extension ConsoleEvent where Self == Notice {
    /// A value that was sent and that the service confirmed. A long one, from a file for example, is not repeated to the
    /// user who gave it.
    static func set(_ key: ServiceKey, _ element: ElementDefinition, _ value: ElementValue) -> Notice {
        let content = value.isLong ? [("byteCount", .integer(value.wireByteCount))] : element.members(value)
        return Notice(
            "set", JSONText.members(key) + [("element", .string(element.name))] + content, isResult: true,
            element.briefLine(value))
    }
}

extension ElementDefinition {
    /// `NAME=VALUE UNIT`, as results are shown. A value that is one of the element's choices is its name.
    func line(_ value: ElementValue) -> String { "\(name)=\(text(of: value))" + (unit.isEmpty ? "" : " \(unit)") }

    /// The value, and the name of the choice that a number is.
    func members(_ value: ElementValue) -> JSONText.Members {
        let choice = type == .string ? nil : choice(value)
        return [("value", value.json)] + (choice.map { [("choice", .string($0.name))] } ?? [])
    }

    /// The same as ``line(_:)``, or only the value's length if it would fill the screen.
    func briefLine(_ value: ElementValue) -> String {
        value.isLong ? "\(name): \(value.wireByteCount) bytes" : line(value)
    }
}

extension ElementValue {
    /// Whether it is text or data of more than 1,024 bytes.
    fileprivate var isLong: Bool { wireByteCount > 1024 }
}
