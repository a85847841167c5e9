import PETSCII

// CHRIN from the keyboard and from the screen, and the cursor.
extension Machine {
    /// The cursor's half period in jiffies.
    private static let blinkTime: UInt8 = 20

    // MARK: - Reading from the screen

    /// CHRIN from the keyboard: the characters of the typed line, once RETURN has been pressed.
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

    /// The line at the cursor as PETSCII without trailing spaces, from where the input began if it began in this line.
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
        while codes.last == Self.emptyCell { codes.removeLast() }
        // Leaves the cursor behind the text. The program moves it.
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
