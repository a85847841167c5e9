import ElementalWire

/// The state of one element in the service: its current value, and what is still to be sent.
struct Slot {
    /// The result of a check of a received value, or of its handler.
    enum Verdict: UInt8 {
        case taken
        case malformed
        case outOfRange
        case notAChoice
        /// The handler has already called `refuse`.
        case refused
    }

    let element: ElementDefinition
    /// Decodes a checked value and passes it to the program.
    var handler: ((UnsafeRawBufferPointer, ElementalService) -> Verdict)?
    /// Where the value's bytes are in the service's memory, and how many there are.
    let offset: UInt32
    var count: UInt16 = 0
    /// The reason of a refusal that is to be sent, 0 for none.
    var refusal: UInt8 = 0
    /// Two booleans in one byte, so that a slot has 20 bytes on a 32-bit processor.
    private var flags: UInt8 = 0

    init(element: ElementDefinition, offset: UInt32) {
        self.element = element
        self.offset = offset
    }

    /// Whether the program has set the value.
    var isSet: Bool {
        get { flags & 1 != 0 }
        set { flags = newValue ? flags | 1 : flags & ~1 }
    }

    /// Whether the current value is to be sent.
    var isDue: Bool {
        get { flags & 2 != 0 }
        set { flags = newValue ? flags | 2 : flags & ~2 }
    }
}
