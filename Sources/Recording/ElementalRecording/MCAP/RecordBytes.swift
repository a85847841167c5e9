// Encoding of MCAP records.
extension [UInt8] {
    init(_ opcode: MCAP.Opcode, _ body: (inout [UInt8]) -> Void) {
        self = []
        add(opcode, body)
    }

    mutating func add(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    mutating func addAll<each Number: FixedWidthInteger>(_ number: repeat each Number) { repeat add(each number) }

    mutating func add(_ string: String) {
        add(UInt32(string.utf8.count))
        append(contentsOf: string.utf8)
    }

    mutating func add(_ metadata: MCAP.Metadata) {
        addCounted { bytes in
            for text in metadata.lazy.flatMap({ [$0.key, $0.value] }) { bytes.add(text) }
        }
    }

    /// Appends content, preceded by its length in four bytes.
    mutating func addCounted(_ body: (inout [UInt8]) -> Void) {
        let start = count
        add(UInt32(0))
        body(&self)
        set(UInt32(count - start - 4), at: start)
    }

    mutating func add(_ opcode: MCAP.Opcode, _ body: (inout [UInt8]) -> Void) {
        let start = count
        addAll(opcode.rawValue, UInt64(0))
        body(&self)
        set(UInt64(count - start - MCAP.recordHeaderByteCount), at: start + 1)
    }

    private mutating func set(_ number: some FixedWidthInteger, at place: Int) {
        Swift.withUnsafeBytes(of: number.littleEndian) { source in
            for (position, byte) in source.enumerated() { self[place + position] = byte }
        }
    }
}
