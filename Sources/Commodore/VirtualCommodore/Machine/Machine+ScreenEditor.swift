import PETSCII

// The KERNAL's screen: 25 rows of 40 characters, of which one or two make a line, and the cursor.
extension Machine {
    static let columns = 40
    static let rows = 25
    /// Set in the line table for the first row of a line.
    private static let startsLine: UInt8 = 0x80
    static let emptyCell: UInt8 = 0x20

    // MARK: - Where the cursor is

    var cursorRow: Int { Int(min(memory.ram[Kernal.Variable.row], 24)) }
    var cursorColumn: Int { Int(memory.ram[Kernal.Variable.column]) % Self.columns }
    var colour: UInt8 { memory.ram[Kernal.Variable.colour] }

    func isContinuation(_ row: Int) -> Bool {
        row > 0 && memory.ram[Kernal.Variable.lineLinks + UInt16(row)] & Self.startsLine == 0
    }

    func setContinuation(_ row: Int, _ isContinuation: Bool) {
        guard row < Self.rows else { return }
        let page = memory.ram[Kernal.Variable.screenPage] & 0x7F
        let link = (page &+ UInt8((row * Self.columns) >> 8)) & 0x7F
        memory.ram[Kernal.Variable.lineLinks + UInt16(row)] = isContinuation ? link : link | Self.startsLine
    }

    func address(_ row: Int, _ column: Int) -> UInt16 {
        UInt16(memory.ram[Kernal.Variable.screenPage]) << 8 &+ UInt16(row * Self.columns + column)
    }

    /// The rows of the line that contains the given row.
    func lineRows(_ row: Int) -> ClosedRange<Int> {
        let first = isContinuation(row) ? row - 1 : row
        return first...(first + 1 < Self.rows && isContinuation(first + 1) ? first + 1 : first)
    }

    /// The next position in a line with the given last row.
    func following(_ cell: (row: Int, column: Int), until last: Int) -> (row: Int, column: Int)? {
        if cell.column < Self.columns - 1 { return (cell.row, cell.column + 1) }
        return cell.row < last ? (cell.row + 1, 0) : nil
    }

    /// Moves the cursor and updates the KERNAL's variables for it.
    func moveCursor(_ row: Int, _ column: Int) {
        let line = lineRows(row)
        let isSecond = row > line.lowerBound
        memory.ram[Kernal.Variable.row] = UInt8(row)
        memory.ram[Kernal.Variable.column] = UInt8(isSecond ? column + Self.columns : column)
        memory.ram[Kernal.Variable.lineEnd] = line.count == 2 ? 79 : 39
        memory.ram[word: Kernal.Variable.linePointer] = address(line.lowerBound, 0)
        memory.ram[word: Kernal.Variable.colourPointer] = 0xD800 + UInt16(line.lowerBound * Self.columns)
    }

    func setCell(_ row: Int, _ column: Int, _ code: UInt8) {
        memory.ram[address(row, column)] = code
        memory.colours[row * Self.columns + column] = colour
    }

    func copyCell(from: (row: Int, column: Int), to: (row: Int, column: Int)) {
        memory.ram[address(to.row, to.column)] = memory.ram[address(from.row, from.column)]
        memory.colours[to.row * Self.columns + to.column] = memory.colours[from.row * Self.columns + from.column]
    }

    func clearRow(_ row: Int) {
        for column in 0..<Self.columns { setCell(row, column, Self.emptyCell) }
        setContinuation(row, false)
    }

    // MARK: - Routines

    /// Initialises the video chip and the editor as CINT does: light blue on blue, an empty screen.
    mutating func resetScreenEditor() {
        memory.writeChip(0x03, to: 0xDD00)
        let registers: [UInt8] = [
            0x9B, 0x37, 0x00, 0x00, 0x00, 0x08, 0x00, 0x14, 0x0F, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            0x0E, 0x06, 0x01, 0x02, 0x03, 0x04, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
        ]
        for (index, value) in registers.enumerated() { memory.writeChip(value, to: 0xD011 + UInt16(index)) }
        memory.ram[Kernal.Variable.caseLock] = 0
        memory.ram[Kernal.Variable.cursorPhase] = 0
        memory.ram[Kernal.Variable.screenPage] = 0x04
        memory.ram[Kernal.Variable.keyLimit] = 10
        memory.ram[Kernal.Variable.keyCount] = 0
        memory.ram[Kernal.Variable.colour] = Colour.lightBlue.rawValue
        memory.ram[Kernal.Variable.cursorOff] = 1
        memory.ram[Kernal.Variable.pressedKey] = 0x40
        memory.ram[Kernal.Variable.lastKey] = 0x40
        memory.ram[Kernal.Variable.inputDevice] = 0
        memory.ram[Kernal.Variable.outputDevice] = 3
        memory.ram[Kernal.Variable.reverse] = 0
        leaveModes()
        clearScreen()
    }

    mutating func clearScreenRoutine() -> RoutineEnd {
        clearScreen()
        return .returns(cycles: 12_000)
    }

    mutating func homeRoutine() -> RoutineEnd {
        moveCursor(0, 0)
        return .returns(cycles: 80)
    }

    /// PLOT: reads (carry set) or sets (carry clear) the cursor's row in X and its column in Y.
    mutating func plot() -> RoutineEnd {
        if processor.carry == 0 {
            moveCursor(min(Int(processor.x), Self.rows - 1), Int(processor.y) % Self.columns)
        }
        processor.x = memory.ram[Kernal.Variable.row]
        processor.y = memory.ram[Kernal.Variable.column]
        return succeed(cycles: 80)
    }

    // MARK: - Rows

    mutating func clearScreen() {
        for row in 0..<Self.rows { clearRow(row) }
        moveCursor(0, 0)
    }

    /// The row below, after scrolling if it was the last.
    mutating func nextRow(after row: Int) -> (row: Int, cycles: UInt64) {
        guard row >= Self.rows - 1 else { return (row + 1, 0) }
        // A whole line scrolls out, which may have two rows.
        let count = isContinuation(1) ? 2 : 1
        for _ in 0..<count { scroll() }
        return (Self.rows - count, UInt64(count) * 16_000)
    }

    private mutating func scroll() {
        for row in 1..<Self.rows {
            for column in 0..<Self.columns { copyCell(from: (row, column), to: (row - 1, column)) }
            setContinuation(row - 1, isContinuation(row))
        }
        setContinuation(0, false)
        clearRow(Self.rows - 1)
        memory.ram[Kernal.Variable.inputRow] &-= 1
    }
}
