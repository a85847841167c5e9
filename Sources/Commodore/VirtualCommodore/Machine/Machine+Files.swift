// Logical files and channels: 0 is the keyboard, 2 the RS-232 line, 3 the screen. Nothing else is connected.
extension Machine {
    private enum Device {
        static let keyboard: UInt8 = 0
        static let serialLine: UInt8 = 2
        static let screen: UInt8 = 3
    }

    private static let mostFiles: UInt8 = 10

    mutating func setFile() -> RoutineEnd {
        memory.ram[Kernal.Variable.file] = processor.a
        memory.ram[Kernal.Variable.device] = processor.x
        memory.ram[Kernal.Variable.secondary] = processor.y
        return .returns(cycles: 12)
    }

    mutating func setName() -> RoutineEnd {
        memory.ram[Kernal.Variable.nameLength] = processor.a
        memory.ram[Kernal.Variable.name] = processor.x
        memory.ram[Kernal.Variable.name + 1] = processor.y
        return .returns(cycles: 12)
    }

    /// READST: returns the status. The line has a status of its own, which is cleared when it is read.
    mutating func readStatus() -> RoutineEnd {
        if memory.ram[Kernal.Variable.device] == Device.serialLine {
            processor.a = memory.ram[SerialVariable.status]
            memory.ram[SerialVariable.status] = 0
        } else {
            processor.a = memory.ram[Kernal.Variable.status]
        }
        processor.setResult(processor.a)
        return .returns(cycles: 20)
    }

    // MARK: - Opening and closing

    private var fileCount: UInt8 { min(memory.ram[Kernal.Variable.fileCount], Self.mostFiles) }

    private func index(ofFile file: UInt8) -> UInt16? {
        (0..<UInt16(fileCount)).last { memory.ram[Kernal.Variable.files + $0] == file }
    }

    mutating func open() -> RoutineEnd {
        let file = memory.ram[Kernal.Variable.file]
        let device = memory.ram[Kernal.Variable.device]
        guard file != 0 else { return fail(.notInputFile) }
        guard index(ofFile: file) == nil else { return fail(.fileOpen) }
        let count = fileCount
        guard count < Self.mostFiles else { return fail(.tooManyFiles) }
        guard [Device.keyboard, Device.serialLine, Device.screen].contains(device) else {
            return fail(.deviceNotPresent)
        }
        memory.ram[Kernal.Variable.files + UInt16(count)] = file
        memory.ram[Kernal.Variable.devices + UInt16(count)] = device
        memory.ram[Kernal.Variable.secondaries + UInt16(count)] = memory.ram[Kernal.Variable.secondary] | 0x60
        memory.ram[Kernal.Variable.fileCount] = count + 1
        memory.ram[Kernal.Variable.status] = 0
        if device == Device.serialLine { openSerialLine() }
        return succeed(cycles: 300)
    }

    mutating func close() -> RoutineEnd {
        guard let index = index(ofFile: processor.a) else { return succeed() }
        if memory.ram[Kernal.Variable.devices + index] == Device.serialLine { closeSerialLine() }
        let last = UInt16(fileCount - 1)
        for table in [Kernal.Variable.files, Kernal.Variable.devices, Kernal.Variable.secondaries] {
            memory.ram[table + index] = memory.ram[table + last]
        }
        memory.ram[Kernal.Variable.fileCount] = UInt8(last)
        return succeed(cycles: 200)
    }

    mutating func closeAll() -> RoutineEnd {
        memory.ram[Kernal.Variable.fileCount] = 0
        return clearChannels()
    }

    // MARK: - Channels

    mutating func setInput() -> RoutineEnd {
        guard let device = select(processor.x) else { return fail(.fileNotOpen) }
        if device == Device.serialLine { memory.ram[SerialVariable.enabled] |= 0x10 }
        memory.ram[Kernal.Variable.inputDevice] = device
        return succeed(cycles: 60)
    }

    mutating func setOutput() -> RoutineEnd {
        guard let device = select(processor.x) else { return fail(.fileNotOpen) }
        guard device != Device.keyboard else { return fail(.notOutputFile) }
        memory.ram[Kernal.Variable.outputDevice] = device
        return succeed(cycles: 60)
    }

    mutating func clearChannels() -> RoutineEnd {
        memory.ram[Kernal.Variable.inputDevice] = Device.keyboard
        memory.ram[Kernal.Variable.outputDevice] = Device.screen
        return .returns(cycles: 40)
    }

    /// Makes an open file the current one.
    ///
    /// - Returns: its device, or nil if it is not open.
    private mutating func select(_ file: UInt8) -> UInt8? {
        guard let index = index(ofFile: file) else { return nil }
        let device = memory.ram[Kernal.Variable.devices + index]
        memory.ram[Kernal.Variable.file] = file
        memory.ram[Kernal.Variable.device] = device
        memory.ram[Kernal.Variable.secondary] = memory.ram[Kernal.Variable.secondaries + index]
        return device
    }

    // MARK: - Characters

    /// GETIN: a character if there is one, otherwise 0.
    mutating func getCharacter() -> RoutineEnd {
        switch memory.ram[Kernal.Variable.inputDevice] {
        case Device.keyboard: processor.a = takeKey() ?? 0
        case Device.serialLine: processor.a = memory.takeReceivedByte() ?? 0
        default: return characterIn()
        }
        processor.setResult(processor.a)
        return succeed(cycles: 60)
    }

    /// CHRIN: waits for a character; from the keyboard, for a line.
    mutating func characterIn() -> RoutineEnd {
        switch memory.ram[Kernal.Variable.inputDevice] {
        case Device.serialLine:
            // As in the original, a byte of 0 cannot be distinguished from no byte, and is lost.
            guard let byte = memory.takeReceivedByte(), byte != 0 else { return .waits(cycles: 60) }
            processor.a = byte
        case Device.screen: processor.a = takeScreenCharacter()
        default:
            guard let character = takeLineCharacter() else { return .waits(cycles: 40) }
            processor.a = character
        }
        processor.setResult(processor.a)
        return succeed(cycles: 60)
    }

    /// CHROUT: sends a character to the screen or the line; registers are preserved.
    mutating func characterOut() -> RoutineEnd {
        switch memory.ram[Kernal.Variable.outputDevice] {
        case Device.serialLine:
            return memory.transmit(processor.a) ? succeed(cycles: 80) : .waits(cycles: 30)
        case Device.screen: return succeed(cycles: printToScreen(processor.a))
        default: return fail(.notOutputFile)
        }
    }

    /// Prints the text at A (low byte) and Y up to a zero byte, at most 255 bytes.
    mutating func printText() -> RoutineEnd {
        var address = UInt16(processor.a) | UInt16(processor.y) << 8
        var cycles: UInt64 = 0
        for _ in 0..<255 {
            let byte = memory.read(address)
            guard byte != 0 else { break }
            cycles += printToScreen(byte) + 40
            address &+= 1
        }
        return .returns(cycles: cycles)
    }

    // MARK: - The RS-232 line

    /// Reads the name's bytes (control, command, the program's own bit length) and places the two rings at the top of
    /// memory, unless the program has placed them.
    private mutating func openSerialLine() {
        let count = UInt16(min(memory.ram[Kernal.Variable.nameLength], 4))
        for offset in UInt16(0)..<4 {
            let name = memory.ram[word: Kernal.Variable.name]
            let byte = offset < count ? memory.read(name &+ offset) : 0
            memory.ram[SerialVariable.control + offset] = byte
        }
        configureSerialDriver()
        memory.ram[SerialVariable.status] = 0
        memory.ram[SerialVariable.enabled] = 0
        memory.ram[SerialVariable.receiveStart] = memory.ram[SerialVariable.receiveEnd]
        memory.ram[SerialVariable.transmitStart] = memory.ram[SerialVariable.transmitEnd]
        for ring in [SerialVariable.receiveBuffer, SerialVariable.transmitBuffer] where memory.ram[ring + 1] == 0 {
            let place = memory.ram[word: Kernal.Variable.memoryTop] &- 0x0100
            memory.ram[word: ring] = place
            memory.ram[word: Kernal.Variable.memoryTop] = place
        }
        // DTR and RTS.
        memory.writeChip(0x06, to: 0xDD03)
        memory.writeChip(0x06, to: 0xDD01)
    }

    /// Stops the driver and frees the rings. DTR is unchanged, as in the original.
    private mutating func closeSerialLine() {
        memory.serial.nextBit = .max
        memory.ram[SerialVariable.enabled] = 0
        for ring in [SerialVariable.receiveBuffer, SerialVariable.transmitBuffer] where memory.ram[ring + 1] != 0 {
            memory.ram[ring + 1] = 0
            memory.ram[Kernal.Variable.memoryTop + 1] &+= 1
        }
    }

    private mutating func configureSerialDriver() {
        let control = memory.ram[SerialVariable.control]
        let command = memory.ram[SerialVariable.command]
        let speed = Int(control & 0x0F)
        let bauds = SerialDriver.doubleBauds
        let cycles = memory.standard.cyclesPerSecond
        // The KERNAL does not support speeds above 2400; its behaviour is undefined, here it uses 2400.
        let length =
            speed == 0
            ? 2 * (Int(memory.ram[word: SerialVariable.ownBitLength]) + 100)
            : (4 * cycles / bauds[min(speed, bauds.count - 1)] + 1) / 2
        let dataBits = 8 - Int(control >> 5 & 0x03)
        let hasParity = command & 0x20 != 0
        memory.serial.bitLength = UInt64(length)
        memory.serial.dataMask = UInt8(0xFF >> (8 - dataBits))
        memory.serial.frameLength = 1 + dataBits + (hasParity ? 1 : 0) + (control & 0x80 != 0 ? 2 : 1)
        memory.ram[word: SerialVariable.bitLength] = UInt16(truncatingIfNeeded: length)
        memory.ram[SerialVariable.dataBits] = UInt8(dataBits) + 1
    }
}
