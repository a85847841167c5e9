// The chips at $D000...$DFFF and their interrupts.
extension AddressSpace {
    mutating func readChip(_ address: UInt16) -> UInt8 {
        let register = Int(address & 0xFF)
        switch address >> 8 {
        case 0xD0...0xD3: return video.read(register & 0x3F, at: clock)
        case 0xD4...0xD7: return sound.read(register & 0x1F, at: clock)
        case 0xD8...0xDB: return 0xF0 | colours[Int(address)]
        case 0xDC:
            let value = cia1.read(register & 0x0F, at: clock)
            chipsChanged()
            return value
        case 0xDD:
            cia2.inputB = line.userPortInput
            let value = cia2.read(register & 0x0F, at: clock)
            chipsChanged()
            return value
        default: return 0xFF
        }
    }

    mutating func writeChip(_ value: UInt8, to address: UInt16) {
        let register = Int(address & 0xFF)
        switch address >> 8 {
        case 0xD0...0xD3: video.write(value, to: register & 0x3F, at: clock)
        case 0xD4...0xD7: sound.write(value, to: register & 0x1F, at: clock)
        case 0xD8...0xDB: colours[Int(address)] = value
        case 0xDC: cia1.write(value, to: register & 0x0F, at: clock)
        case 0xDD:
            cia2.write(value, to: register & 0x0F, at: clock)
            line.setOutputs(cia2.drivenB)
        default: return
        }
        chipsChanged()
    }

    /// Processes all events that are due, and computes when the next one is.
    mutating func handleEvents() {
        clock += video.advance(to: clock)
        cia1.advance(to: clock)
        cia2.advance(to: clock)
        clock += moveBits()
        chipsChanged()
    }

    /// Updates the schedule after a chip's registers or the line have changed.
    mutating func chipsChanged() {
        nextEvent = min(video.nextEvent, cia1.nextEvent, cia2.nextEvent, line.nextBit, serial.nextBit)
        isInterruptRequested = video.isInterrupting || cia1.isInterrupting
        if cia2.takeInterruptEdge() { isNonMaskableRequested = true }
    }
}
