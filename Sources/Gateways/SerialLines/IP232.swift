/// VICE's framing for a serial line over TCP, which carries control signals along with the bytes.
///
/// FF is the escape: FF FF is the byte FF. From the emulator, FF 00 and FF 01 are DTR off and on; to it, FF and a byte are
/// the signals that it reads, DCD in bit 0 and RI in bit 1.
package struct IP232 {
    package enum Event: Hashable {
        case byte(UInt8)
        case terminalReady(Bool)
    }

    private static let mark: UInt8 = 0xFF
    private var isMarked = false

    package init() {}

    /// Decodes a byte of the stream. An escape before any other byte is ignored.
    package mutating func receive(_ byte: UInt8) -> Event? {
        guard isMarked else {
            isMarked = byte == Self.mark
            return isMarked ? nil : .byte(byte)
        }
        isMarked = false
        return switch byte {
        case Self.mark: .byte(Self.mark)
        case 0, 1: .terminalReady(byte == 1)
        default: nil
        }
    }

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(mark) else { return bytes }
        return bytes.flatMap { $0 == mark ? [mark, mark] : [$0] }
    }

    package static func wires(carrier: Bool) -> [UInt8] { [mark, carrier ? 1 : 0] }
}
