import Support

/// The state of a serial line, or of what stands for one, changed.
struct LineEvent: ConsoleEvent {
    private enum State {
        /// A device or emulator can be attached.
        case ready
        /// The other end is connected.
        case open
        case lost(reason: String, retryIn: Duration?)
        /// Another host wanted the line.
        case refused(host: String)
        /// The socket at which the other end connects was closed.
        case notListening(reason: String, retryIn: Duration)
    }

    private let state: State
    /// The line's name; `nil` if there is only one, except when it is ready.
    private let line: String?

    /// A device or emulator can be attached under this name.
    static func ready(_ line: String) -> LineEvent { LineEvent(state: .ready, line: line) }
    static let open = LineEvent(state: .open, line: nil)
    static func open(_ line: String) -> LineEvent { LineEvent(state: .open, line: line) }
    static func lost(_ reason: String, retryIn delay: Duration?, line: String? = nil) -> LineEvent {
        LineEvent(state: .lost(reason: reason, retryIn: delay), line: line)
    }

    static func refused(_ host: String, line: String? = nil) -> LineEvent {
        LineEvent(state: .refused(host: host), line: line)
    }

    static func notListening(_ reason: String, retryIn delay: Duration, line: String? = nil) -> LineEvent {
        LineEvent(state: .notListening(reason: reason, retryIn: delay), line: line)
    }

    var isResult: Bool { false }

    var lines: [String] {
        switch (state, line) {
        case (.ready, let line): ["the line is \(line ?? "ready")"]
        case (.open, nil): ["the other end of the line is connected"]
        case (.open, let line?): ["\(line) is connected"]
        case (.lost(let reason, let delay), let line):
            [
                (line.map { "\($0) is lost: " } ?? "the line is lost: ") + reason
                    + (delay.map { "; next attempt in \($0)" } ?? "")
            ]
        case (.refused(let host), let line):
            ["\(host) wanted \(line ?? "the line") and did not get it: the connection that has it lives"]
        case (.notListening(let reason, let delay), let line):
            ["\(line ?? "the line") does not listen: \(reason); next attempt in \(delay)"]
        }
    }

    var json: JSONText {
        switch state {
        case .ready: json("ready")
        case .open: json("open")
        case .lost(let reason, let delay): json("lost", reason, delay)
        case .refused(let host): json("refused", "\(host) wanted it")
        case .notListening(let reason, let delay): json("notListening", reason, delay)
        }
    }

    private func json(_ state: String, _ message: String? = nil, _ delay: Duration? = nil) -> JSONText {
        .event(
            "line",
            [
                ("state", .string(state)), ("line", .optional(line)), ("message", .optional(message)),
            ] + JSONText.delay(delay))
    }
}
