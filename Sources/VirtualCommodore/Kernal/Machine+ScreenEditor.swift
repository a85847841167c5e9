import PETSCII

// The KERNAL's screen: 25 rows of 40 characters, of which one or two make a line, and the cursor.
extension Machine {
    static let columns = 40
    static let rows = 25
    /// The first row of a line has this bit set in the table of lines.
    private static let startsLine: UInt8 = 0x80
    /// The cursor's half period in jiffies.
    private static let blinkTime: UInt8 = 20
    private static let space: UInt8 = 0x20

    // MARK: - Where the cursor is

    var cursorRow: Int { Int(min(memory.ram[Kernal.Variable.row], 24)) }
    var cursorColumn: Int { Int(memory.ram[Kernal.Variable.column]) % Self.columns }
    private var colour: UInt8 { memory.ram[Kernal.Variable.colour] }

    private func isContinuation(_ row: Int) -> Bool {
        row > 0 && memory.ram[Kernal.Variable.lineLinks + UInt16(row)] & Self.startsLine == 0
    }

    private func setContinuation(_ row: Int, _ isContinuation: Bool) {
        guard row < Self.rows else { return }
        let page = memory.ram[Kernal.Variable.screenPage] & 0x7F
        let link = (page &+ UInt8(row * Self.columns >> 8)) & 0x7F
        memory.ram[Kernal.Variable.lineLinks + UInt16(row)] = isContinuation ? link : link | Self.startsLine
    }

    private func address(_ row: Int, _ column: Int) -> UInt16 {
        UInt16(memory.ram[Kernal.Variable.screenPage]) << 8 &+ UInt16(row * Self.columns + column)
    }

    /// The rows of the line of which that row is a part.
    private func lineRows(_ row: Int) -> ClosedRange<Int> {
        let first = isContinuation(row) ? row - 1 : row
        return first...(first + 1 < Self.rows && isContinuation(first + 1) ? first + 1 : first)
    }

    /// Moves the cursor, and keeps what the KERNAL's variables say about it right.
    private func moveCursor(_ row: Int, _ column: Int) {
        let line = lineRows(row)
        let isSecond = row > line.lowerBound
        memory.ram[Kernal.Variable.row] = UInt8(row)
        memory.ram[Kernal.Variable.column] = UInt8(isSecond ? column + Self.columns : column)
        memory.ram[Kernal.Variable.lineEnd] = line.count == 2 ? 79 : 39
        memory.ram[word: Kernal.Variable.linePointer] = address(line.lowerBound, 0)
        memory.ram[word: Kernal.Variable.colourPointer] = 0xD800 + UInt16(line.lowerBound * Self.columns)
    }

    private func setCell(_ row: Int, _ column: Int, _ code: UInt8) {
        memory.ram[address(row, column)] = code
        memory.colours[row * Self.columns + column] = colour
    }

    private func copyCell(from: (row: Int, column: Int), to: (row: Int, column: Int)) {
        memory.ram[address(to.row, to.column)] = memory.ram[address(from.row, from.column)]
        memory.colours[to.row * Self.columns + to.column] = memory.colours[from.row * Self.columns + from.column]
    }

    private func clearRow(_ row: Int) {
        for column in 0..<Self.columns { setCell(row, column, Self.space) }
        setContinuation(row, false)
    }

    // MARK: - Routines

    /// Sets the video chip and the editor as CINT does: light blue on blue, the screen empty.
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

    // MARK: - Printing

    /// Prints a PETSCII character or does what a control code says.
    ///
    /// - Returns: the cycles that it takes, roughly.
    @discardableResult
    mutating func printToScreen(_ byte: UInt8) -> UInt64 {
        memory.ram[Kernal.Variable.lastCharacter] = byte
        guard let control = ControlCode(rawValue: byte) else {
            // A control byte without a meaning prints nothing, unless it is quoted.
            if byte & 0x7F < 0x20 { return isQuoting ? put(quoted(byte)) : 150 }
            if byte == 0x22 { memory.ram[Kernal.Variable.quote] ^= 1 }
            return put(ScreenCode(petscii: byte).rawValue | (isReversed ? 0x80 : 0))
        }
        if isQuoting && !actsWhenQuoted(control) { return put(quoted(byte)) }
        return perform(control)
    }

    private var isReversed: Bool { memory.ram[Kernal.Variable.reverse] != 0 }
    private var isQuoting: Bool {
        memory.ram[Kernal.Variable.quote] != 0 || memory.ram[Kernal.Variable.insertCount] != 0
    }

    private func actsWhenQuoted(_ control: ControlCode) -> Bool {
        switch control {
        case .return, .shiftReturn: true
        case .delete: memory.ram[Kernal.Variable.insertCount] == 0
        case .insert: memory.ram[Kernal.Variable.quote] == 0
        default: false
        }
    }

    /// The reversed letter by which a control code is shown between quotes.
    private func quoted(_ byte: UInt8) -> UInt8 { (byte & 0x80 == 0 ? byte : byte & 0x7F | 0x40) | 0x80 }

    private func leaveModes() {
        memory.ram[Kernal.Variable.quote] = 0
        memory.ram[Kernal.Variable.insertCount] = 0
    }

    private mutating func put(_ code: UInt8) -> UInt64 {
        let row = cursorRow
        let column = cursorColumn
        setCell(row, column, code)
        if memory.ram[Kernal.Variable.insertCount] > 0 { memory.ram[Kernal.Variable.insertCount] -= 1 }
        guard column == Self.columns - 1 else {
            moveCursor(row, column + 1)
            return 200
        }
        // After the first row the line goes on in a second; after that one a new line begins.
        let continues = !isContinuation(row)
        let (next, cycles) = nextRow(after: row)
        if continues {
            setContinuation(next, true)
            setContinuation(next + 1, false)
        }
        moveCursor(next, 0)
        return cycles + 250
    }

    private mutating func perform(_ control: ControlCode) -> UInt64 {
        let row = cursorRow
        let column = cursorColumn
        switch control {
        case .return, .shiftReturn:
            memory.ram[Kernal.Variable.reverse] = 0
            leaveModes()
            let (next, cycles) = nextRow(after: lineRows(row).upperBound)
            moveCursor(next, 0)
            return cycles + 250
        case .clear:
            clearScreen()
            return 12_000
        case .home: moveCursor(0, 0)
        case .down:
            let (next, cycles) = nextRow(after: row)
            moveCursor(next, column)
            return cycles + 150
        case .up: if row > 0 { moveCursor(row - 1, column) }
        case .right:
            guard column == Self.columns - 1 else {
                moveCursor(row, column + 1)
                break
            }
            let (next, cycles) = nextRow(after: row)
            moveCursor(next, 0)
            return cycles + 150
        case .left: moveLeft()
        case .reverseOn: memory.ram[Kernal.Variable.reverse] = 1
        case .reverseOff: memory.ram[Kernal.Variable.reverse] = 0
        case .lowerCase: setLowerCase(true)
        case .upperCase: setLowerCase(false)
        case .lockCase: memory.ram[Kernal.Variable.caseLock] |= 0x80
        case .unlockCase: memory.ram[Kernal.Variable.caseLock] &= 0x7F
        case .delete: delete()
        case .insert: insert()
        default:
            if let colour = control.colour { memory.ram[Kernal.Variable.colour] = colour.rawValue }
        }
        return 150
    }

    private mutating func setLowerCase(_ isLowerCase: Bool) {
        let register = memory.video.registers[0x18]
        memory.writeChip(isLowerCase ? register | 0x02 : register & ~0x02, to: 0xD018)
    }

    private mutating func moveLeft() {
        let row = cursorRow
        let column = cursorColumn
        if column > 0 {
            moveCursor(row, column - 1)
        } else if row > 0 {
            moveCursor(row - 1, Self.columns - 1)
        }
    }

    /// Moves the rest of the line one to the left, over the character before the cursor.
    private mutating func delete() {
        guard cursorRow > 0 || cursorColumn > 0 else { return }
        moveLeft()
        var cell = (row: cursorRow, column: cursorColumn)
        let last = lineRows(cell.row).upperBound
        while let next = following(cell, until: last) {
            copyCell(from: next, to: cell)
            cell = next
        }
        setCell(cell.row, cell.column, Self.space)
    }

    /// Moves the rest of the line one to the right, if there is a space at its end; a line of one row grows.
    private mutating func insert() {
        var row = cursorRow
        var last = lineRows(row).upperBound
        if memory.ram[address(last, Self.columns - 1)] != Self.space {
            guard last == row && !isContinuation(row) else { return }
            let (next, _) = nextRow(after: row)
            row = next - 1
            clearRow(next)
            setContinuation(next, true)
            last = next
        }
        var cell = (row: last, column: Self.columns - 1)
        let cursor = (row: row, column: cursorColumn)
        while cell != cursor {
            let previous = cell.column > 0 ? (cell.row, cell.column - 1) : (cell.row - 1, Self.columns - 1)
            copyCell(from: previous, to: cell)
            cell = previous
        }
        setCell(cursor.row, cursor.column, Self.space)
        moveCursor(cursor.row, cursor.column)
        memory.ram[Kernal.Variable.insertCount] &+= 1
    }

    private func following(_ cell: (row: Int, column: Int), until last: Int) -> (row: Int, column: Int)? {
        if cell.column < Self.columns - 1 { return (cell.row, cell.column + 1) }
        return cell.row < last ? (cell.row + 1, 0) : nil
    }

    // MARK: - Rows

    private mutating func clearScreen() {
        for row in 0..<Self.rows { clearRow(row) }
        moveCursor(0, 0)
    }

    /// The row below, after making room for it if it was the last.
    private mutating func nextRow(after row: Int) -> (row: Int, cycles: UInt64) {
        guard row >= Self.rows - 1 else { return (row + 1, 0) }
        // A whole line goes, which may have two rows.
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

    // MARK: - Reading from the screen

    /// CHRIN from the keyboard: the characters of the line that is being typed, once RETURN has been pressed.
    mutating func takeLineCharacter() -> UInt8? {
        if let character = kernal.inputLine.popFirst() { return character }
        if !kernal.isEditingLine {
            kernal.isEditingLine = true
            memory.ram[Kernal.Variable.inputRow] = UInt8(cursorRow)
            memory.ram[Kernal.Variable.inputColumn] = UInt8(cursorColumn)
            memory.ram[Kernal.Variable.cursorOff] = 0
        }
        guard let key = takeKey() else { return nil }
        hideCursor()
        guard key & 0x7F == ControlCode.return.rawValue else {
            printToScreen(key)
            return nil
        }
        kernal.isEditingLine = false
        memory.ram[Kernal.Variable.cursorOff] = 1
        kernal.inputLine.append(typedLine())
        leaveModes()
        return kernal.inputLine.popFirst()
    }

    /// The line at the cursor as PETSCII, from where the input began if it began in it, without spaces at its end.
    private mutating func typedLine() -> [UInt8] {
        let line = lineRows(cursorRow)
        let inputRow = Int(memory.ram[Kernal.Variable.inputRow])
        var cell = (row: line.lowerBound, column: 0)
        if line.contains(inputRow) { cell = (inputRow, Int(memory.ram[Kernal.Variable.inputColumn]) % Self.columns) }
        var codes: [UInt8] = []
        var next: (row: Int, column: Int)? = cell
        while let position = next {
            codes.append(memory.ram[address(position.row, position.column)])
            next = following(position, until: line.upperBound)
        }
        while codes.last == Self.space { codes.removeLast() }
        // The cursor stays behind the text; the program moves it on.
        let end = min(cell.row * Self.columns + cell.column + codes.count, (line.upperBound + 1) * Self.columns - 1)
        moveCursor(end / Self.columns, end % Self.columns)
        return codes.map { ScreenCode(rawValue: $0).petscii } + [ControlCode.return.rawValue]
    }

    /// CHRIN from the screen: the character at the cursor, which moves on; RETURN at the end of a row.
    mutating func takeScreenCharacter() -> UInt8 {
        let row = cursorRow
        let column = cursorColumn
        let code = memory.ram[address(row, column)]
        if column == Self.columns - 1 {
            moveCursor(nextRow(after: row).row, 0)
            return ControlCode.return.rawValue
        }
        moveCursor(row, column + 1)
        return ScreenCode(rawValue: code).petscii
    }

    // MARK: - The cursor

    /// Shows the cursor or hides it when its time has come.
    mutating func blinkCursor() {
        guard memory.ram[Kernal.Variable.cursorOff] == 0 else { return }
        let countdown = memory.ram[Kernal.Variable.cursorCountdown]
        guard countdown <= 1 else {
            memory.ram[Kernal.Variable.cursorCountdown] = countdown - 1
            return
        }
        memory.ram[Kernal.Variable.cursorCountdown] = Self.blinkTime
        guard memory.ram[Kernal.Variable.cursorPhase] == 0 else { return hideCursor() }
        let cell = address(cursorRow, cursorColumn)
        memory.ram[Kernal.Variable.cursorPhase] = 1
        memory.ram[Kernal.Variable.cursorCharacter] = memory.ram[cell]
        memory.ram[Kernal.Variable.cursorColour] = memory.colours[cursorRow * Self.columns + cursorColumn]
        memory.ram[cell] ^= 0x80
        memory.colours[cursorRow * Self.columns + cursorColumn] = colour
    }

    private mutating func hideCursor() {
        guard memory.ram[Kernal.Variable.cursorPhase] != 0 else { return }
        memory.ram[Kernal.Variable.cursorPhase] = 0
        memory.ram[Kernal.Variable.cursorCountdown] = Self.blinkTime
        memory.ram[address(cursorRow, cursorColumn)] = memory.ram[Kernal.Variable.cursorCharacter]
        memory.colours[cursorRow * Self.columns + cursorColumn] = memory.ram[Kernal.Variable.cursorColour]
    }
}
