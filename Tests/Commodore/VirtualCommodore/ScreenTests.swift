import PETSCII
import TestSupport
import Testing
import VirtualCommodore

/// The screen after a program has printed bytes with CHROUT.
struct ScreenTests {
    /// A machine whose program has printed these bytes, none of which is 0.
    private func printed(_ bytes: [UInt8]) throws -> Commodore64 {
        var code = Assembler()
        code.label("next")
        code(.lda, "text")
        code(.beq, "end")
        code(.jsr, at: Entry.chrout)
        // The address in the first instruction counts on.
        code(.inc, at: 0xC001)
        code(.bne, "next")
        code(.inc, at: 0xC002)
        code(.jmp, "next")
        code.label("end")
        code(.jmp, "end")
        code.label("text")
        code.data(bytes + [0])
        let commodore = Commodore64()
        try commodore.start(try code.program())
        let end = code.address(of: "end")
        let hasEnded = commodore.run(frames: 2000) { $0.processor.programCounter == end }
        #expect(hasEnded)
        return commodore
    }

    private static func bytes(_ text: String, _ codes: ControlCode...) -> [UInt8] {
        [UInt8](petscii: text, in: .graphics) + codes.map(\.rawValue)
    }

    /// The table from $D9 on, as the KERNAL leaves it on an empty screen.
    @Test
    func eachRowHasThePageOfItsCells() throws {
        let commodore = try printed([ControlCode.clear.rawValue])
        let links = (0..<25).map { commodore.ram(at: 0xD9 + $0) }
        let pages: [(page: UInt8, rows: Int)] = [(0x84, 7), (0x85, 6), (0x86, 7), (0x87, 5)]
        #expect(links == pages.flatMap { [UInt8](repeating: $0.page, count: $0.rows) })
    }

    @Test
    func textAppearsInCapitals() throws {
        let commodore = try printed(Self.bytes("Hello, world"))
        #expect(commodore.screenRows[0] == "HELLO, WORLD")
        #expect(commodore.ram(at: 0x0400) == 8)
        #expect(commodore.cells[0][0].colour == .lightBlue)
    }

    @Test
    func aControlCodeSwitchesToSmallLetters() throws {
        let commodore = try printed(
            [ControlCode.lowerCase.rawValue] + [UInt8](petscii: "Hello", in: .lowerCase))
        #expect(commodore.screenRows[0] == "Hello")
        #expect(commodore.characterSet == .lowerCase)
    }

    @Test
    func coloursAndReverseReachTheCells() throws {
        let commodore = try printed(
            [ControlCode.yellow.rawValue, 0x41, ControlCode.reverseOn.rawValue, ControlCode.red.rawValue, 0x42])
        let row = commodore.cells[0]
        #expect(row[0].colour == .yellow && !row[0].code.isReversed)
        #expect(row[1].colour == .red && row[1].code.isReversed)
        #expect(row[1].code.character(in: .graphics) == "B")
    }

    @Test(arguments: Colour.allCases)
    func eachColourCodeGivesItsColour(_ colour: Colour) throws {
        let commodore = try printed([ControlCode(colour: colour).rawValue, 0x41])
        #expect(commodore.cells[0][0].colour == colour)
    }

    @Test
    func clearEmptiesTheScreen() throws {
        let commodore = try printed(Self.bytes("one\ntwo", .clear))
        #expect(commodore.screenRows.allSatisfy { $0.isEmpty })
    }

    private static let lines = (1...30).map { "line \($0)" }.joined(separator: "\n")
    private static let row = String(repeating: "a", count: 40)

    @Test(
        arguments: [
            (
                "cursor codes move the cursor",
                [
                    0x41, ControlCode.down.rawValue, 0x42, ControlCode.up.rawValue, 0x43, ControlCode.left.rawValue,
                    ControlCode.left.rawValue, 0x44, ControlCode.right.rawValue, 0x45, ControlCode.home.rawValue, 0x46,
                ], [0: "FDCE", 1: " B"]
            ),
            ("delete takes the character before the cursor", bytes("abc", .delete), [0: "AB"]),
            ("delete closes the gap", bytes("abc", .left, .delete), [0: "AC"]),
            ("insert makes room at the cursor", bytes("abc", .left, .left, .insert), [0: "A BC"]),
            ("a full screen scrolls", bytes(lines), [0: "LINE 6", 24: "LINE 30"]),
            ("a long line goes on in the next row", bytes(row + "b\nc"), [0: row.uppercased(), 1: "B", 2: "C"]),
        ] as [(String, [UInt8], [Int: String])])
    func rowsAreAsPrinted(_ what: String, _ bytes: [UInt8], _ rows: [Int: String]) throws {
        let commodore = try printed(bytes)
        for (row, text) in rows { #expect(commodore.screenRows[row] == text, "\(what)") }
    }

    @Test
    func controlCodesBetweenQuotesAreShown() throws {
        let commodore = try printed([0x22, ControlCode.clear.rawValue, ControlCode.red.rawValue, 0x22, 0x41])
        let row = commodore.cells[0]
        #expect(commodore.ram(at: 0x0401) == 0xD3 && commodore.ram(at: 0x0402) == 0x9C)
        #expect(row[4].code.character(in: .graphics) == "A" && row[4].colour == .lightBlue)
    }

    @Test
    func anyBytesLeaveTheMachineRunning() throws {
        var generator = SeededGenerator(seed: 64)
        let bytes = (0..<3000).map { _ in UInt8.random(in: 1...255, using: &generator) }
        let commodore = try printed(bytes)
        #expect(commodore.stopReason == nil)
    }

    @Test
    func theScreenForATerminalHasItsBorder() throws {
        let commodore = try printed(Self.bytes("hi"))
        let rows = commodore.ansiRows(border: (columns: 3, rows: 1))
        #expect(rows.count == 27)
        #expect(rows[0] == "\u{1B}[48;2;108;94;181m" + String(repeating: " ", count: 46) + "\u{1B}[0m")
        #expect(rows[1].contains("\u{1B}[48;2;53;40;121mHI "))
        let shown = rows.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
        #expect(shown.allSatisfy { $0.count == 46 })
        #expect(shown[1].hasPrefix("   HI  "))
    }
}
