import Elemental
import Support

/// A device on a serial line came or went.
struct SerialDeviceEvent: ConsoleEvent {
    enum State: String {
        case appeared
        case returned
        case lost
        case gone
    }

    let state: State
    let line: String
    let service: String
    let name: String

    init(_ state: State, _ line: String, _ service: ElementalService) {
        self.state = state
        self.line = line
        self.service = service.service
        name = service.displayName
    }

    var isResult: Bool { false }

    var lines: [String] {
        let device = "\(service)/\(name)"
        return switch state {
        case .appeared: ["\(line) is \(device)"]
        case .returned: ["\(device) is back on \(line)"]
        case .lost: ["\(device) on \(line) is not heard any more"]
        case .gone: ["\(device) on \(line) did not come back: its service is withdrawn"]
        }
    }

    var json: JSONText {
        .event(
            "device",
            JSONText.members(service, name) + [("state", .string(state.rawValue)), ("line", .string(line))])
    }
}

/// A device that was away is told what clients set before.
struct RestoredEvent: ConsoleEvent {
    let line: String
    let count: Int

    var isResult: Bool { false }

    var lines: [String] {
        ["\(line): \(count) value\(count == 1 ? "" : "s") that clients had set \(count == 1 ? "is" : "are") restored"]
    }

    var json: JSONText { .event("restored", [("line", .string(line)), ("count", .integer(count))]) }
}

/// What is on a line cannot be used, or a value of it.
struct SerialProblemEvent: ConsoleEvent {
    enum Reason: String {
        /// What is on the line cannot be published.
        case notPublished
        /// Something that it said is left out.
        case leftOut
    }

    let line: String
    let reason: Reason
    let message: String
    /// When it is listened to again; `nil` if it goes on.
    var delay: Duration?

    var isResult: Bool { false }

    var lines: [String] { ["\(line): \(message)" + (delay.map { "; next attempt in \($0)" } ?? "")] }

    var json: JSONText {
        .event(
            "problem",
            [("line", .string(line))] + JSONText.members(reason.rawValue, because: message) + JSONText.delay(delay))
    }
}
