import Elemental
import ElementalFollowing
import Support

/// A value that arrived.
struct ValueEvent: ConsoleEvent {
    let arrived: ArrivedValue
    let device: String
    /// The service's name, where the value is a machine's own.
    var service: String?
    /// Whether the text form names the device and shortens a long value, as `publish` does.
    var showsSender = false

    var isResult: Bool { true }

    var lines: [String] {
        let (element, value) = (arrived.element, arrived.value)
        return [showsSender ? "\(element.briefLine(value))  from \(device)" : element.line(value)]
    }

    var json: JSONText {
        .event(
            "value",
            [("element", .string(arrived.element.name))] + arrived.element.members(arrived.value)
                + (service.map { [("service", .string($0))] } ?? [])
                + [("device", .string(device)), ("time", JSONText(arrived.unixTime))])
    }
}

/// A value that was sent and that the service confirmed.
struct SetEvent: ConsoleEvent {
    let element: ElementDefinition
    let value: ElementValue
    let device: String

    var isResult: Bool { true }

    var lines: [String] { [element.briefLine(value)] }

    var json: JSONText {
        // A long value, from a file for example, is not repeated to the user who gave it.
        let content: [(key: String, value: JSONText)] =
            value.isLong ? [("byteCount", .integer(value.wireByteCount))] : element.members(value)
        return .event("set", [("element", .string(element.name))] + content + [("device", .string(device))])
    }
}

extension ElementDefinition {
    /// `NAME=VALUE UNIT`, as results are shown. A value that is one of the element's choices is its name.
    func line(_ value: ElementValue) -> String {
        "\(name)=\(text(of: value))" + (unit.isEmpty ? "" : " \(unit)")
    }

    /// The value, and the name of the choice that a number is.
    fileprivate func members(_ value: ElementValue) -> [(key: String, value: JSONText)] {
        let choice = type == .string ? nil : choice(value)
        return [("value", value.json)] + (choice.map { [("choice", .string($0.name))] } ?? [])
    }

    /// The same as ``line(_:)``, or only the value's length if it would fill the screen.
    fileprivate func briefLine(_ value: ElementValue) -> String {
        value.isLong ? "\(name): \(value.wireByteCount) bytes" : line(value)
    }
}

extension ElementValue {
    /// Whether it is text or data of more than 1,024 bytes.
    fileprivate var isLong: Bool { wireByteCount > 1024 }
}
