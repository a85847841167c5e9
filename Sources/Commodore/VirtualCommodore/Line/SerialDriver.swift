/// The state of the KERNAL's RS-232 driver that is not in RAM.
///
/// The original moves bits in software, by timers and non-maskable interrupts. Only its visible effects are emulated:
/// bytes appear in the receive ring, and leave the transmit ring, when their last bit has passed.
struct SerialDriver {
    /// Approximate cycles that the driver's interrupt routine takes from the program for each bit.
    static let cyclesOfABit: UInt64 = 100

    /// The length of the program's bits, in cycles.
    var bitLength: UInt64 = 821
    /// The bits of a byte: start, data, parity, stop.
    var frameLength = 10
    /// The mask of the data bits in use.
    var dataMask: UInt8 = 0xFF
    /// When the next bit of the byte being sent is due, in cycles; never while no byte is being sent.
    var nextBit: UInt64 = .max
    var bitsLeft = 0
    /// The byte being sent.
    var byte: UInt8 = 0

    /// The speeds by the lowest 4 bits of the control register, in half bits a second; 0 is the program's own.
    static let doubleBauds = [0, 100, 150, 220, 269, 300, 600, 1200, 2400, 3600, 4800]
}

/// The KERNAL's variables for the RS-232 line.
enum SerialVariable {
    static let receiveBuffer: UInt16 = 0xF7
    static let transmitBuffer: UInt16 = 0xF9
    static let control: UInt16 = 0x0293
    static let command: UInt16 = 0x0294
    static let ownBitLength: UInt16 = 0x0295
    static let status: UInt16 = 0x0297
    static let dataBits: UInt16 = 0x0298
    static let bitLength: UInt16 = 0x0299
    /// Where the next received byte goes.
    static let receiveEnd: UInt16 = 0x029B
    /// The next byte to read.
    static let receiveStart: UInt16 = 0x029C
    /// The next byte to send.
    static let transmitStart: UInt16 = 0x029D
    /// Where the next byte of the program goes.
    static let transmitEnd: UInt16 = 0x029E
    /// Which interrupts are enabled: bit 0 while sending, bit 4 while receiving.
    static let enabled: UInt16 = 0x02A1
}

/// The bits of the RS-232 status that ``SerialVariable/status`` holds and READST returns.
enum SerialStatus {
    static let overrun: UInt8 = 0x04
    static let empty: UInt8 = 0x08
}
