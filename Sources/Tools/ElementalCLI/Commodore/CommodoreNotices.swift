import CommodoreGateway
import Support
import VirtualCommodore

extension ConsoleEvent where Self == Notice {
    static func program(_ name: String, isConnected: Bool) -> Notice {
        Notice(
            "program", [("name", .string(name)), ("connected", .bool(isConnected))],
            "the program '\(name)' is \(isConnected ? "connected" : "disconnected")")
    }

    static func screen(of machine: Commodore64) -> Notice {
        let rows = machine.screenRows
        return Notice(
            "screen",
            [
                ("rows", .array(rows.map { .string($0) })), ("border", .string(machine.borderColour.name)),
                ("background", .string(machine.backgroundColour.name)),
                ("frames", .integer(Int(machine.cycle / UInt64(machine.standard.cyclesPerFrame)))),
            ] + JSONText.members(machine.stopReason?.code, because: machine.stopReason?.description),
            isResult: true, rows)
    }

    static func cpuTest(cycles: Int) -> Notice {
        Notice("cpuTest", [("cycles", .integer(cycles))], isResult: true, "success after \(cycles) cycles")
    }

    /// Bytes that the terminal sent or received: `SECONDS > NAME  BYTES  CONTENT`.
    ///
    /// - Parameter isWhole: whether the record is complete: the line may fall silent in the middle of one.
    static func record(
        _ bytes: [UInt8], elapsed: Duration, isSent: Bool = false, isWhole: Bool = true
    ) -> Notice {
        let milliseconds = elapsed.nanoseconds / 1_000_000
        let fraction = "\(milliseconds % 1000)"
        let seconds = "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
        let name = RecordText.name(bytes, isCommand: isSent)
        let (digits, content) = (RecordText.hexadecimal(bytes), RecordText.content(bytes))
        return Notice(
            "record",
            [
                ("direction", .string(isSent ? "sent" : "received")), ("elapsed", .seconds(elapsed)),
                ("name", .string(name)), ("bytes", .string(digits)), ("content", .string(content)),
                ("whole", .bool(isWhole)),
            ], isResult: true,
            String(repeating: " ", count: max(0, 9 - seconds.count)) + seconds + (isSent ? " > " : " < ")
                + (isWhole ? name : "cut off").padded(to: 15) + " \(digits)  \(content)")
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
