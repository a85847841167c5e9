import ElementalWire

/// What the service knows of one of its elements: its current value, and what is to be sent of it.
struct Slot {
    /// What became of a value that was received.
    enum Verdict: UInt8 {
        case taken
        case malformed
        case outOfRange
        case notAChoice
        /// The handler has refused it itself.
        case refused
    }

    let element: ElementDefinition
    /// Checks a value, and passes it to the program.
    var handler: ((UnsafeRawBufferPointer, ElementalService) -> Verdict)?
    /// Where the value's bytes are in the service's memory, and how many there are.
    let offset: UInt32
    var count: UInt16 = 0
    /// The reason of a refusal that is to be sent, 0 for none.
    var refusal: UInt8 = 0
    /// Two facts in a byte, which makes a slot 20 bytes long on a 32-bit processor.
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
