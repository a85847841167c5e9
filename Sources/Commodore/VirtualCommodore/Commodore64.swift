import PETSCII

/// A Commodore 64 without its ROMs: it runs machine-language programs that use the KERNAL's documented routines.
///
/// It runs in cycles, not in seconds: nothing happens until one of the `run` methods is called, and the same calls with
/// the same input always give the same result. To run it at original speed, run a frame every 1/50 (PAL) or 1/60 (NTSC)
/// of a second. Use it from one task or thread at a time.
///
/// ```swift
/// let commodore = Commodore64()
/// try commodore.start(Program(prg: bytes))
/// while commodore.stopReason == nil { commodore.runFrame() }
/// print(commodore.screenText)
/// ```
public final class Commodore64 {
    private var machine: Machine

    /// A machine after power-on, with an empty screen.
    ///
    /// - Parameters:
    ///   - standard: PAL or NTSC, which determines all timing.
    ///   - line: the line that is plugged into the user port.
    public init(standard: VideoStandard = .pal, line: SerialLine = SerialLine()) {
        machine = Machine(standard: standard, line: line)
    }

    /// The machine's television standard.
    public var standard: VideoStandard { machine.memory.standard }

    // MARK: - Running

    /// How long the machine has run, in cycles.
    public var cycle: UInt64 { machine.memory.clock }

    /// Why the machine has stopped, or nil while it runs.
    public var stopReason: StopReason? { machine.stop }

    /// The processor's registers.
    public var processor: Processor { machine.processor }

    /// Runs for the given cycles and to the end of the current instruction, or until the machine stops.
    public func run(cycles: Int) {
        machine.run(until: machine.memory.clock + UInt64(max(cycles, 0)))
    }

    /// Runs until the next frame begins.
    public func runFrame() {
        let frame = UInt64(standard.cyclesPerFrame)
        machine.run(until: (machine.memory.clock / frame + 1) * frame)
    }

    /// Runs frame by frame until a condition holds.
    ///
    /// - Parameter frames: the maximum number of frames.
    /// - Returns: whether the condition held; it is also checked before the first and after the last frame.
    @discardableResult
    public func run(frames: Int, until condition: (Commodore64) throws -> Bool) rethrows -> Bool {
        for _ in 0..<max(frames, 0) {
            if try condition(self) { return true }
            guard stopReason == nil else { return false }
            runFrame()
        }
        return try condition(self)
    }

    // MARK: - Programs

    /// Resets the machine, loads a program into memory and starts it.
    ///
    /// - Parameter address: where to start; if nil, at the address of the `SYS` in the program's BASIC line, or at its
    ///   first byte if it is not loaded where BASIC programs are.
    /// - Throws: ``ProgramError`` if there is no address to start at.
    public func start(_ program: Program, at address: UInt16? = nil) throws(ProgramError) {
        let start: UInt16 = if let address { address } else { try program.startAddress() }
        var line = machine.memory.line
        line.rest()
        machine = Machine(standard: standard, line: line)
        machine.memory.cia1.inputB = ~joystick1.rawValue
        machine.memory.cia1.inputA = ~joystick2.rawValue
        load(program)
        machine.start(at: start)
    }

    /// Loads a program into memory and changes nothing else.
    public func load(_ program: Program) {
        machine.memory.ram.store(program.bytes, at: program.loadAddress)
        let end = program.loadAddress &+ UInt16(truncatingIfNeeded: program.bytes.count)
        for pointer in [0x2D, 0x2F, 0x31] as [UInt16] { machine.memory.ram[word: pointer] = end }
    }

    /// The memory as the processor sees it, including the chips: reading may acknowledge an interrupt, writing may have
    /// side effects.
    public subscript(address: UInt16) -> UInt8 {
        get { machine.memory.read(address) }
        set { machine.memory.write(newValue, to: address) }
    }

    /// A byte of the RAM, also below ROM and chips. Reading has no side effects.
    public func ram(at address: UInt16) -> UInt8 { machine.memory.ram[address] }

    // MARK: - Keyboard and joysticks

    /// Types a text as fast as the keyboard is scanned: a key every 60th of a second while the program leaves the interrupt
    /// to the KERNAL.
    ///
    /// A line feed is the RETURN key. Characters that the keyboard lacks are replaced (see `[UInt8].init(petscii:in:)`).
    public func type(_ text: String) {
        machine.kernal.keys.append([UInt8](petscii: text, in: characterSet))
    }

    /// Types keys by their PETSCII codes.
    package func type(petscii keys: [UInt8]) { machine.kernal.keys.append(keys) }

    /// Presses a key that has no character, such as a function key or a cursor key.
    public func press(_ key: ControlCode) { machine.kernal.keys.append(key.rawValue) }

    /// How many typed keys have not been scanned yet.
    public var untypedKeyCount: Int { machine.kernal.keys.count }

    /// Whether the RUN/STOP key is held down.
    public var isStopKeyDown: Bool {
        get { machine.kernal.isStopKeyDown }
        set { machine.kernal.isStopKeyDown = newValue }
    }

    /// Presses the RESTORE key, which interrupts the program. With RUN/STOP held down it ends the program.
    public func pressRestore() { machine.memory.isNonMaskableRequested = true }

    /// The joystick in port 1.
    public var joystick1: Joystick = [] {
        didSet { machine.memory.cia1.inputB = ~joystick1.rawValue }
    }

    /// The joystick in port 2.
    public var joystick2: Joystick = [] {
        didSet { machine.memory.cia1.inputA = ~joystick2.rawValue }
    }

    // MARK: - Output

    /// The line that is plugged into the user port.
    public var line: SerialLine {
        _read { yield machine.memory.line }
        _modify { yield &machine.memory.line }
    }

    /// Received bytes that the program has not read yet, 0 to 255.
    public var unreadByteCount: Int {
        Int(ram(at: SerialVariable.receiveEnd) &- ram(at: SerialVariable.receiveStart))
    }

    /// The SID's 29 registers as last written, from $D400.
    public var soundRegisters: [UInt8] { machine.memory.sound.registers }

    /// Returns the writes to the SID since the last call, at most 65536; further ones are only counted.
    ///
    /// - Returns: the writes, oldest first, and the number of those that did not fit.
    public func takeSoundWrites() -> (writes: [SoundWrite], missing: Int) {
        let missing = machine.memory.sound.unloggedCount
        return (machine.memory.sound.takeLog(), missing)
    }

    /// The set of characters that the screen shows.
    public var characterSet: CommodoreCharacterSet {
        machine.memory.video.characterOffset & 0x0800 == 0 ? .graphics : .lowerCase
    }

    /// The border's colour.
    public var borderColour: Colour { Colour(nibble: machine.memory.video.colour(0x20)) }

    /// The background's colour.
    public var backgroundColour: Colour { Colour(nibble: machine.memory.video.colour(0x21)) }

    /// The jiffy clock: 60ths of a second since the start, as the program's interrupt routine counts them.
    public var jiffies: Int {
        (0..<3).reduce(0) { $0 << 8 | Int(ram(at: Kernal.Variable.clock + UInt16($1))) }
    }

    /// The address space, for rendering.
    func withVideo<Result>(_ body: (borrowing AddressSpace) -> Result) -> Result { body(machine.memory) }
}

/// The closed switches of a joystick.
public struct Joystick: OptionSet, Sendable, Hashable {
    /// A bit for each switch, as in the ports $DC00 and $DC01, but 1 for a closed one.
    public let rawValue: UInt8

    /// The switches of those bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }

    /// Pushed up.
    public static let up = Joystick(rawValue: 1)
    /// Pulled down.
    public static let down = Joystick(rawValue: 2)
    /// Pushed to the left.
    public static let left = Joystick(rawValue: 4)
    /// Pushed to the right.
    public static let right = Joystick(rawValue: 8)
    /// The button.
    public static let fire = Joystick(rawValue: 16)
}
