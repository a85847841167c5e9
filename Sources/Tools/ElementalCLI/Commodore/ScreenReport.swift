import VirtualCommodore

/// What a virtual Commodore's screen shows, in words.
struct ScreenReport: Sendable {
    /// The 25 rows as text.
    let rows: [String]
    let border: String
    let background: String
    /// Pictures since the machine was switched on.
    let frames: Int
    /// Why the machine stands still, if it does.
    let stopReason: String?

    init(_ machine: Commodore64) {
        rows = machine.screenRows
        border = machine.borderColour.name
        background = machine.backgroundColour.name
        frames = Int(machine.cycle / UInt64(machine.standard.cyclesPerFrame))
        stopReason = machine.stopReason?.description
    }

    /// The members of the report's object.
    var members: [(key: String, value: JSONText)] {
        [
            ("rows", .array(rows.map { .string($0) })), ("border", .string(border)),
            ("background", .string(background)), ("frames", .integer(frames)),
            ("stopped", stopReason.map { .string($0) } ?? .null),
        ]
    }
}
