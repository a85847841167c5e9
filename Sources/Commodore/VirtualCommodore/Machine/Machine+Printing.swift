import PETSCII

// CHROUT to the screen: characters, and control codes that do something.
extension Machine {
    /// Prints a PETSCII character or executes a control code.
    ///
    /// - Returns: the approximate cycles.
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

    /// The reversed letter that represents a control code between quotes.
    private func quoted(_ byte: UInt8) -> UInt8 { (byte & 0x80 == 0 ? byte : byte & 0x7F | 0x40) | 0x80 }

    func leaveModes() {
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
        // After the first row the line continues in a second; after that one a new line begins.
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

    /// Deletes the character before the cursor: the rest of the line moves one to the left.
    private mutating func delete() {
        guard cursorRow > 0 || cursorColumn > 0 else { return }
        moveLeft()
        var cell = (row: cursorRow, column: cursorColumn)
        let last = lineRows(cell.row).upperBound
        while let next = following(cell, until: last) {
            copyCell(from: next, to: cell)
            cell = next
        }
        setCell(cell.row, cell.column, Self.emptyCell)
    }

    /// Inserts a space: the rest of the line moves one to the right if there is a space at its end; a line of one row grows.
    private mutating func insert() {
        var row = cursorRow
        var last = lineRows(row).upperBound
        if memory.ram[address(last, Self.columns - 1)] != Self.emptyCell {
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
        setCell(cursor.row, cursor.column, Self.emptyCell)
        moveCursor(cursor.row, cursor.column)
        memory.ram[Kernal.Variable.insertCount] &+= 1
    }
}
