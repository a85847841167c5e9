/// A machine-language program and its load address.
public struct Program: Sendable, Hashable {
    /// The load address.
    public let loadAddress: UInt16
    /// The program.
    public let bytes: [UInt8]

    /// Where BASIC programs begin.
    private static let basicStart: UInt16 = 0x0801
    private static let sysToken: UInt8 = 0x9E

    /// A program with a load address.
    ///
    /// - Throws: ``ProgramError`` if it is empty or reaches past $FFFF.
    public init(_ bytes: some Sequence<UInt8>, at loadAddress: UInt16) throws(ProgramError) {
        self.bytes = Array(bytes)
        self.loadAddress = loadAddress
        guard !self.bytes.isEmpty else { throw .empty }
        guard self.bytes.count <= 0x10000 - Int(loadAddress) else {
            throw .tooLong(byteCount: self.bytes.count, loadAddress: loadAddress)
        }
    }

    /// The program in a PRG file, whose first two bytes are the load address.
    ///
    /// - Throws: ``ProgramError`` if it has no bytes after these, or reaches past $FFFF.
    public init(prg file: some Collection<UInt8>) throws(ProgramError) {
        let header = Array(file.prefix(2))
        guard header.count == 2 else { throw .empty }
        try self.init(file.dropFirst(2), at: UInt16(header[0]) | UInt16(header[1]) << 8)
    }

    /// Where the program starts: at the address of the `SYS` in its BASIC line if it is loaded at $0801, otherwise at its
    /// first byte.
    ///
    /// - Throws: ``ProgramError/noStart`` if its first BASIC line is not `SYS` and a number.
    public func startAddress() throws(ProgramError) -> UInt16 {
        guard loadAddress == Self.basicStart else { return loadAddress }
        // A link to the next line (2 bytes), the line's number (2 bytes), then its text, up to a 0.
        var text = bytes.dropFirst(4).prefix { $0 != 0 }.drop { $0 == 0x20 }
        guard text.popFirst() == Self.sysToken else { throw .noStart }
        text = text.drop { $0 == 0x20 || $0 == UInt8(ascii: "(") }
        var address = 0
        var digitCount = 0
        for byte in text {
            if byte == 0x20 { continue }
            guard (0x30...0x39).contains(byte) else {
                // A bracket or the next statement ends the number; an operator would continue it.
                guard [UInt8(ascii: ")"), UInt8(ascii: ":")].contains(byte) else { throw .noStart }
                break
            }
            address = address * 10 + Int(byte - 0x30)
            digitCount += 1
            guard address <= 0xFFFF else { throw .noStart }
        }
        guard digitCount > 0 else { throw .noStart }
        return UInt16(address)
    }
}

/// Why a program cannot be loaded or started.
public enum ProgramError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is nothing to load.
    case empty
    /// The program would reach past the end of the memory.
    case tooLong(byteCount: Int, loadAddress: UInt16)
    /// The program has no start address: its first BASIC line is not `SYS` and a number.
    case noStart

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .empty: "the program is empty: a PRG file has two bytes for its load address, then the program"
        case .tooLong(let count, let address):
            "a program of \(count) bytes does not fit at \(hexadecimal(address)): the memory ends at $FFFF"
        case .noStart:
            "the program has no start address: its first line of BASIC is not SYS and a number; "
                + "give a start address"
        }
    }
}
