import Support

/// The state of the line between a Commodore and a gateway or modem changed.
struct LineEvent: ConsoleEvent {
    private enum State {
        /// A device or emulator can be attached under this name.
        case ready(String)
        /// The other end is connected.
        case open
        case lost(reason: String, retryIn: Duration?)
    }

    private let state: State

    static func ready(_ name: String) -> LineEvent { LineEvent(state: .ready(name)) }
    static let open = LineEvent(state: .open)
    static func lost(_ reason: String, retryIn delay: Duration?) -> LineEvent {
        LineEvent(state: .lost(reason: reason, retryIn: delay))
    }

    var isResult: Bool { false }

    var lines: [String] {
        switch state {
        case .ready(let name): ["the line is \(name)"]
        case .open: ["the other end of the line is connected"]
        case .lost(let reason, let delay):
            ["the line is lost: \(reason)" + (delay.map { "; next attempt in \($0)" } ?? "")]
        }
    }

    var json: JSONText {
        switch state {
        case .ready(let name): json("ready", name: name)
        case .open: json("open")
        case .lost(let reason, let delay): json("lost", reason: reason, retryIn: delay)
        }
    }

    private func json(
        _ state: String, name: String? = nil, reason: String? = nil, retryIn delay: Duration? = nil
    ) -> JSONText {
        .event(
            "line",
            [
                ("state", .string(state)), ("line", .optional(name)), ("reason", .optional(reason)),
                ("retryIn", delay.map { .seconds($0) } ?? .null),
            ])
    }
}
