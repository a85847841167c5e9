/// The mapping of the 256 pages of the address space.
struct PageMap: ~Copyable {
    /// What the processor reads in a page. Writes go to the RAM below a ROM, and to the chips.
    enum Kind: UInt8 {
        case ram
        case chips
        case characters
        case basic
        case kernal
    }

    private let kinds: UnsafeMutablePointer<UInt8>

    /// A map with nothing but RAM.
    init() {
        kinds = .allocate(capacity: 256)
        kinds.initialize(repeating: Kind.ram.rawValue, count: 256)
    }

    deinit { kinds.deallocate() }

    @inline(__always)
    func isRAM(_ address: UInt16) -> Bool { kinds[Int(address >> 8)] == Kind.ram.rawValue }

    /// Whether the BASIC or KERNAL ROM of a real machine would be read there.
    @inline(__always)
    func isProgramROM(_ address: UInt16) -> Bool { kinds[Int(address >> 8)] >= Kind.basic.rawValue }

    func kind(_ address: UInt16) -> Kind { Kind(rawValue: kinds[Int(address >> 8)]) ?? .ram }

    /// Maps the pages according to the three lowest lines of the processor port (LORAM, HIRAM, CHAREN).
    func configure(port: UInt8) {
        let loram = port & 1 != 0
        let hiram = port & 2 != 0
        let charen = port & 4 != 0
        fill(0xA0..<0xC0, loram && hiram ? .basic : .ram)
        fill(0xD0..<0xE0, !loram && !hiram ? .ram : charen ? .chips : .characters)
        fill(0xE0..<0x100, hiram ? .kernal : .ram)
    }

    private func fill(_ pages: Range<Int>, _ kind: Kind) {
        for page in pages { kinds[page] = kind.rawValue }
    }
}
