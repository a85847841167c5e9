/// Why a virtual Commodore has stopped.
public enum StopReason: Sendable, Hashable, CustomStringConvertible {
    /// The program reached an undocumented opcode.
    case undocumentedOpcode(UInt8, at: UInt16)
    /// The program jumped into a ROM, to a routine that is not emulated.
    case missingRoutine(at: UInt16)
    /// The program reached a BRK that it does not handle.
    case breakInstruction(at: UInt16)
    /// The program ended by returning to BASIC.
    case returnedToBasic

    /// The reason in a sentence, with addresses as a 6502 programmer writes them.
    public var description: String {
        switch self {
        case .undocumentedOpcode(let opcode, let address):
            "undocumented opcode \(hexadecimal(opcode)) at \(hexadecimal(address))"
        case .missingRoutine(let address):
            "the program called \(hexadecimal(address)) in ROM, which the virtual Commodore does not provide"
        case .breakInstruction(let address): "BRK at \(hexadecimal(address))"
        case .returnedToBasic: "the program ended"
        }
    }
}
