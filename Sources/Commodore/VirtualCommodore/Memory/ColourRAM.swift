/// The colour memory at $D800...$DBFF: 1024 times 4 bits.
struct ColourRAM: ~Copyable {
    private let cells: UnsafeMutablePointer<UInt8>

    init() {
        cells = .allocate(capacity: 1024)
        cells.initialize(repeating: 0, count: 1024)
    }

    deinit { cells.deallocate() }

    /// All 1024 cells.
    var all: [UInt8] { Array(UnsafeBufferPointer(start: cells, count: 1024)) }

    /// A cell's colour, 0...15; only the lower 10 bits of the index are used.
    subscript(index: Int) -> UInt8 {
        get { cells[index & 0x3FF] }
        nonmutating set { cells[index & 0x3FF] = newValue & 0x0F }
    }
}
