// Bits on the line, and the KERNAL's receive and transmit rings.
extension AddressSpace {
    private var isListening: Bool { ram[SerialVariable.enabled] & 0x10 != 0 }
    private var isSending: Bool { serial.nextBit != .max }

    /// Starts the transfer of the bytes that the peer has sent.
    mutating func startIncoming() {
        guard line.nextBit == .max, !line.incoming.isEmpty else { return }
        line.bitsLeft = 10
        line.nextBit = clock + line.nextBitLength(cyclesPerSecond: standard.cyclesPerSecond)
        nextEvent = min(nextEvent, line.nextBit)
    }

    /// Transfers the bits that are due.
    ///
    /// - Returns: the cycles that the KERNAL's interrupt routines took.
    mutating func moveBits() -> UInt64 {
        var taken: UInt64 = 0
        while clock >= line.nextBit {
            if isListening { taken += SerialDriver.cyclesOfABit }
            line.bitsLeft -= 1
            line.nextBit += line.nextBitLength(cyclesPerSecond: standard.cyclesPerSecond)
            guard line.bitsLeft == 0 else { continue }
            if let byte = line.incoming.popFirst() { receive(byte) }
            line.bitsLeft = 10
            if line.incoming.isEmpty { line.nextBit = .max }
        }
        while clock >= serial.nextBit {
            taken += SerialDriver.cyclesOfABit
            serial.bitsLeft -= 1
            serial.nextBit += serial.bitLength
            guard serial.bitsLeft == 0 else { continue }
            let sample = SerialLine.sample(serial.byte, sent: Double(serial.bitLength), read: outerBitLength)
            line.outgoing.append(sample)
            line.statistics.sentByteCount += 1
            loadTransmitByte()
        }
        return taken
    }

    private var outerBitLength: Double { Double(standard.cyclesPerSecond) / Double(line.baud) }

    private mutating func receive(_ sent: UInt8) {
        guard isListening else {
            line.statistics.unheardByteCount += 1
            return
        }
        let end = ram[SerialVariable.receiveEnd]
        guard end &+ 1 != ram[SerialVariable.receiveStart] else {
            ram[SerialVariable.status] |= SerialStatus.overrun
            line.statistics.overrunByteCount += 1
            return
        }
        let byte = SerialLine.sample(sent, sent: outerBitLength, read: Double(serial.bitLength)) & serial.dataMask
        ram[ram[word: SerialVariable.receiveBuffer] &+ UInt16(end)] = byte
        ram[SerialVariable.receiveEnd] = end &+ 1
        line.statistics.receivedByteCount += 1
    }

    /// Returns the next byte of the receive ring. If the ring is empty, returns nil and sets the status.
    mutating func takeReceivedByte() -> UInt8? {
        let start = ram[SerialVariable.receiveStart]
        guard start != ram[SerialVariable.receiveEnd] else {
            ram[SerialVariable.status] |= SerialStatus.empty
            return nil
        }
        ram[SerialVariable.status] &= ~SerialStatus.empty
        ram[SerialVariable.receiveStart] = start &+ 1
        return ram[ram[word: SerialVariable.receiveBuffer] &+ UInt16(start)]
    }

    /// Puts a byte into the transmit ring and starts sending.
    ///
    /// - Returns: whether there was room.
    mutating func transmit(_ byte: UInt8) -> Bool {
        let end = ram[SerialVariable.transmitEnd]
        guard end &+ 1 != ram[SerialVariable.transmitStart] else { return false }
        ram[ram[word: SerialVariable.transmitBuffer] &+ UInt16(end)] = byte
        ram[SerialVariable.transmitEnd] = end &+ 1
        if !isSending {
            // The start bit is sent one bit's time after the driver was started.
            serial.nextBit = clock + 2 * serial.bitLength
            loadTransmitByte()
            nextEvent = min(nextEvent, serial.nextBit)
        }
        return true
    }

    /// Takes the next byte of the transmit ring, or stops sending.
    private mutating func loadTransmitByte() {
        let start = ram[SerialVariable.transmitStart]
        guard start != ram[SerialVariable.transmitEnd] else {
            serial.nextBit = .max
            ram[SerialVariable.enabled] &= ~0x01
            return
        }
        serial.byte = ram[ram[word: SerialVariable.transmitBuffer] &+ UInt16(start)] & serial.dataMask
        serial.bitsLeft = serial.frameLength
        ram[SerialVariable.transmitStart] = start &+ 1
        ram[SerialVariable.enabled] |= 0x01
    }
}
