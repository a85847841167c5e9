/// 64 KiB of bytes. An address has 16 bits, so every one is in bounds.
struct RAM: ~Copyable {
    private let bytes: UnsafeMutablePointer<UInt8>

    init() {
        bytes = .allocate(capacity: 0x10000)
        bytes.initialize(repeating: 0, count: 0x10000)
    }

    deinit { bytes.deallocate() }

    subscript(address: UInt16) -> UInt8 {
        @inline(__always) get { bytes[Int(address)] }
        @inline(__always) nonmutating set { bytes[Int(address)] = newValue }
    }

    /// Two bytes, little-endian.
    subscript(word address: UInt16) -> UInt16 {
        get { UInt16(self[address]) | UInt16(self[address &+ 1]) << 8 }
        nonmutating set {
            self[address] = UInt8(truncatingIfNeeded: newValue)
            self[address &+ 1] = UInt8(newValue >> 8)
        }
    }

    /// Returns a copy of `count` bytes, or fewer at the end of the memory.
    func bytes(_ address: UInt16, _ count: Int) -> [UInt8] {
        Array(UnsafeBufferPointer(start: bytes + Int(address), count: min(count, 0x10000 - Int(address))))
    }

    /// Stores bytes, wrapping from $FFFF to $0000.
    func store(_ new: some Sequence<UInt8>, at address: UInt16) {
        var address = address
        for byte in new {
            self[address] = byte
            address &+= 1
        }
    }
}
