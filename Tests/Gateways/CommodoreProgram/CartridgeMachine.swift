import TestSupport
import VirtualCommodore

/// A 6502 with the cartridge in place of its ROMs, and the cartridge's 6551 with the test as its modem.
///
/// What an instruction reads of the chips is put into memory before it runs, and what it writes is looked at afterwards: the
/// program reaches the chip by LDA and STA with its address alone.
final class CartridgeMachine {
    private let machine = FlatMachine()
    private(set) var output = ProgramOutput()
    private(set) var cycle = 0

    /// How many bytes the other end sends after RTS went off, as an adapter with a buffer does.
    var lateByteCount = 0
    /// How many times RTS went off.
    private(set) var pauseCount = 0
    private(set) var hasOverrun = false
    private(set) var hangUpCount = 0

    private enum Chip {
        static let data: UInt16 = 0xDE00
        static let status: UInt16 = 0xDE01
        static let command: UInt16 = 0xDE02
        static let hangUp: UInt8 = 0b10
        static let pause: UInt8 = 0b01
        static let send: UInt8 = 0b0101
    }
    /// 10 bits at 38,400 baud, and a 60th of a second, in cycles of a PAL machine.
    private static let byteCycles = 257
    private static let jiffyCycles = 16421

    private var incoming: [UInt8] = []
    private var incomingBegin = 0
    private var receivedByte: UInt8?
    private var lateCount = 0
    private var sending: UInt8?
    private var command: UInt8 = 0
    private var isRequesting = false
    private var nextReceived = 0
    private var nextSent = 0
    private var nextJiffy = 0

    init(_ cartridge: [UInt8]) {
        for (offset, byte) in cartridge.dropFirst(64 + 16).enumerated() { machine[0xE000 + UInt16(offset)] = byte }
        machine.processor.programCounter = UInt16(machine[0xFFFC]) | UInt16(machine[0xFFFD]) << 8
        // No key, no joystick.
        machine[0xDC01] = 0xFF
    }

    subscript(address: UInt16) -> UInt8 { machine[address] }

    var unsentByteCount: Int { incoming.count - incomingBegin }

    func send(_ code: UInt8, _ bytes: [UInt8] = []) { incoming += [code, UInt8(bytes.count)] + bytes }

    func set(_ element: UInt8, _ value: [UInt8]) { send(3, Bench.envelope(element, value)) }

    /// Plays the modem until the program is connected.
    func connect() throws {
        try expect(ProgramOutput.Command(code: 4, bytes: []))
        send(1)
        try expect(ProgramOutput.Command(code: 3, bytes: []))
        send(1)
        try expect(ProgramOutput.Command(code: 5, bytes: Array("elemental:commodore".utf8)))
        send(4, Array("Connected".utf8))
        try run("the state of things") { $0.output.values.count >= 3 }
    }

    func expect(_ command: ProgramOutput.Command) throws {
        try run("command \(command)") { !$0.output.commands.isEmpty }
        try output.expect(command)
    }

    /// Runs until a condition holds.
    func run(_ what: String, seconds: Int = 20, until condition: (CartridgeMachine) -> Bool) throws {
        let end = cycle + seconds * 60 * Self.jiffyCycles
        while !condition(self) {
            guard cycle < end else {
                throw TestSupportError("\(what) did not come; at \(machine.processor.programCounter)")
            }
            for _ in 0..<50 { try step() }
        }
    }

    private func step() throws {
        let place = machine.processor.programCounter
        let (opcode, address) = (machine[place], UInt16(machine[place &+ 1]) | UInt16(machine[place &+ 2]) << 8)
        if opcode == 0xAD, address == Chip.status || address == Chip.data { prepareRead(of: address) }
        if let written = Self.writtenAddress(opcode, address, machine.processor), written >= 0xE000 {
            throw TestSupportError("the instruction at \(place) writes into the ROM, at \(written)")
        }
        guard let cycles = machine.step() else { throw TestSupportError("no instruction at \(place)") }
        cycle += cycles
        // The picture's lines, by which the program knows PAL.
        let line = cycle / 63 % 312
        machine[0xD011] = machine[0xD011] & 0x7F | (line >= 256 ? 0x80 : 0)
        machine[0xD012] = UInt8(truncatingIfNeeded: line)
        if opcode == 0x8D, Chip.data...Chip.command ~= address { try note(address) }
        try work()
    }

    /// Where an instruction writes that has the address in itself.
    private static func writtenAddress(_ opcode: UInt8, _ address: UInt16, _ processor: Processor) -> UInt16? {
        switch opcode {
        case 0x8C, 0x8D, 0x8E, 0xCE, 0xEE: address
        case 0x9D, 0xDE, 0xFE: address &+ UInt16(processor.x)
        case 0x99: address &+ UInt16(processor.y)
        default: nil
        }
    }

    private func prepareRead(of address: UInt16) {
        guard address == Chip.status else {
            machine[Chip.data] = receivedByte ?? 0
            receivedByte = nil
            return
        }
        let state: UInt8 = (receivedByte == nil ? 0 : 0x08) | (sending == nil ? 0x10 : 0) | (hasOverrun ? 0x04 : 0)
        machine[Chip.status] = state | (isRequesting ? 0x80 : 0)
        isRequesting = false
    }

    private func note(_ address: UInt16) throws {
        switch address {
        case Chip.data:
            guard sending == nil else { throw TestSupportError("a byte was written before the one before had left") }
            sending = machine[Chip.data]
            nextSent = cycle + Self.byteCycles
        case Chip.command:
            let before = command
            command = machine[Chip.command]
            if command == Chip.pause, before != Chip.pause {
                pauseCount += 1
                lateCount = 0
            }
            if command == Chip.hangUp { hangUpCount += 1 }
            if command == Chip.send, before != Chip.send { nextSent = cycle + Self.byteCycles }
        default: break
        }
    }

    private func work() throws {
        if cycle >= nextReceived, incomingBegin < incoming.count, mayReceive {
            nextReceived = cycle + Self.byteCycles
            if receivedByte == nil { receivedByte = incoming[incomingBegin] } else { hasOverrun = true }
            incomingBegin += 1
            request()
        }
        // With RTS off nothing is sent.
        if command == Chip.send || sending != nil && command != Chip.pause, cycle >= nextSent {
            nextSent = cycle + Self.byteCycles
            if let byte = sending.take() {
                let count = output.values.count
                try output.receive([byte])
                for _ in count..<output.values.count { send(1) }
            }
            if command == Chip.send { request() }
        }
        if cycle >= nextJiffy, machine.interrupt() { nextJiffy = cycle + Self.jiffyCycles }
    }

    private var mayReceive: Bool {
        guard command == Chip.pause else { return command & 1 != 0 }
        lateCount += 1
        return lateCount <= lateByteCount
    }

    /// The line to the processor goes down once, until the chip's status is read.
    private func request() {
        guard !isRequesting else { return }
        isRequesting = true
        machine.nonMaskableInterrupt()
    }
}
