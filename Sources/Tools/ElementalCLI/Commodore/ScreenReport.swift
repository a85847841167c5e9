import Support
import VirtualCommodore

/// What a virtual Commodore's screen shows at the end, as text.
struct ScreenReport: ConsoleEvent {
    /// The 25 rows as text.
    let rows: [String]
    let border: String
    let background: String
    /// Frames since the machine was switched on.
    let frames: Int
    /// Why the machine has stopped, if it has.
    let stopReason: StopReason?

    init(_ machine: Commodore64) {
        rows = machine.screenRows
        border = machine.borderColour.name
        background = machine.backgroundColour.name
        frames = Int(machine.cycle / UInt64(machine.standard.cyclesPerFrame))
        stopReason = machine.stopReason
    }

    var isResult: Bool { true }

    var lines: [String] { rows }

    var json: JSONText {
        .event(
            "screen",
            [
                ("rows", .array(rows.map { .string($0) })), ("border", .string(border)),
                ("background", .string(background)), ("frames", .integer(frames)),
            ] + JSONText.members(stopReason?.code, because: stopReason?.description))
    }
}

extension StopReason {
    fileprivate var code: String {
        switch self {
        case .undocumentedOpcode: "undocumentedOpcode"
        case .missingRoutine: "missingRoutine"
        case .breakInstruction: "breakInstruction"
        case .returnedToBasic: "returnedToBasic"
        }
    }
}
