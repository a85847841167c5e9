/// The KERNAL's state that is not in RAM.
///
/// No ROM is shipped. When the processor reaches an address in ROM, the routine that a real machine has there is emulated
/// (``Machine/carryOutRoutine()``). Addresses and behaviour are those of the documented entry points (Commodore 64
/// Programmer's Reference Guide) and of the routines behind the vectors at $0314...$0333.
struct Kernal {
    /// Typed keys that the keyboard scan has not processed yet: it processes one every 60th of a second.
    var keys = ByteQueue()
    var isStopKeyDown = false
    /// The rest of the line that CHRIN has read from the screen.
    var inputLine = ByteQueue()
    /// Whether CHRIN waits for the end of a line.
    var isEditingLine = false

    /// The addresses of the KERNAL's variables.
    enum Variable {
        static let status: UInt16 = 0x90
        static let stopKey: UInt16 = 0x91
        static let fileCount: UInt16 = 0x98
        static let inputDevice: UInt16 = 0x99
        static let outputDevice: UInt16 = 0x9A
        static let messages: UInt16 = 0x9D
        /// The jiffy clock, the highest of its three bytes first.
        static let clock: UInt16 = 0xA0
        static let nameLength: UInt16 = 0xB7
        static let file: UInt16 = 0xB8
        static let secondary: UInt16 = 0xB9
        static let device: UInt16 = 0xBA
        static let name: UInt16 = 0xBB
        static let keyCount: UInt16 = 0xC6
        static let reverse: UInt16 = 0xC7
        static let inputRow: UInt16 = 0xC9
        static let inputColumn: UInt16 = 0xCA
        static let pressedKey: UInt16 = 0xCB
        static let lastKey: UInt16 = 0xC5
        static let cursorOff: UInt16 = 0xCC
        static let cursorCountdown: UInt16 = 0xCD
        static let cursorCharacter: UInt16 = 0xCE
        static let cursorPhase: UInt16 = 0xCF
        static let linePointer: UInt16 = 0xD1
        static let column: UInt16 = 0xD3
        static let quote: UInt16 = 0xD4
        static let lineEnd: UInt16 = 0xD5
        static let row: UInt16 = 0xD6
        static let lastCharacter: UInt16 = 0xD7
        static let insertCount: UInt16 = 0xD8
        static let lineLinks: UInt16 = 0xD9
        static let colourPointer: UInt16 = 0xF3
        static let files: UInt16 = 0x0259
        static let devices: UInt16 = 0x0263
        static let secondaries: UInt16 = 0x026D
        static let keyBuffer: UInt16 = 0x0277
        static let memoryBottom: UInt16 = 0x0281
        static let memoryTop: UInt16 = 0x0283
        static let colour: UInt16 = 0x0286
        static let cursorColour: UInt16 = 0x0287
        static let screenPage: UInt16 = 0x0288
        static let keyLimit: UInt16 = 0x0289
        static let caseLock: UInt16 = 0x0291
        static let isPAL: UInt16 = 0x02A6
        static let vectors: UInt16 = 0x0314
    }
}
