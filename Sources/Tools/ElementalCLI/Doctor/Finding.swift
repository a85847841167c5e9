import Support

/// The result of one check of `elemental doctor`, with advice for the user.
struct Finding: ConsoleEvent {
    enum State: String, Sendable {
        case ok
        /// Could not be checked, or is missing and not needed.
        case skipped
        /// Works, but not as well as it could.
        case warning
        /// Does not work.
        case problem
    }

    let check: String
    let state: State
    let text: String
    let advice: String?

    init(_ check: String, _ state: State, _ text: String, advice: String? = nil) {
        self.check = check
        self.state = state
        self.text = text
        self.advice = advice
    }

    var isResult: Bool { true }

    var lines: [String] {
        let mark = state == .skipped ? "-" : state == .problem ? "PROBLEM" : state.rawValue
        return ["\(mark.padded(to: 8)) \(check): \(text)"] + (advice.map { ["          \($0)"] } ?? [])
    }

    var json: JSONText {
        .event(
            "finding",
            [
                ("check", .string(check)), ("state", .string(state.rawValue)), ("message", .string(text)),
                ("advice", .optional(advice)),
            ])
    }
}
