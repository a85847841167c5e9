/// Bytes of MCAP records, as they are put together.
struct RecordBytes {
    private(set) var bytes: [UInt8] = []

    init() {}

    /// A record.
    init(_ opcode: MCAP.Opcode, _ body: (inout RecordBytes) -> Void) { record(opcode, body) }

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }

    /// - Parameter limit: the most memory that is kept, in bytes.
    mutating func removeAll(keeping limit: Int) { bytes.removeAll(keepingCapacity: bytes.capacity <= limit) }

    mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func addAll<each Number: FixedWidthInteger>(_ number: repeat each Number) { repeat add(each number) }

    mutating func add(_ content: some Sequence<UInt8>) { bytes.append(contentsOf: content) }

    /// A string with its length.
    mutating func add(string: String) {
        add(UInt32(string.utf8.count))
        bytes.append(contentsOf: string.utf8)
    }

    mutating func add(_ metadata: MCAP.Metadata) {
        counted { bytes in
            for text in metadata.lazy.flatMap({ [$0.key, $0.value] }) { bytes.add(string: text) }
        }
    }

    /// Content with its length in four bytes.
    mutating func counted(_ body: (inout RecordBytes) -> Void) {
        let start = count
        add(UInt32(0))
        body(&self)
        set(UInt32(count - start - 4), at: start)
    }

    /// A record with its opcode and length.
    mutating func record(_ opcode: MCAP.Opcode, _ body: (inout RecordBytes) -> Void) {
        let start = count
        add(opcode.rawValue)
        add(UInt64(0))
        body(&self)
        set(UInt64(count - start - MCAP.recordHeaderByteCount), at: start + 1)
    }

    private mutating func set(_ number: some FixedWidthInteger, at place: Int) {
        withUnsafeBytes(of: number.littleEndian) { source in
            for (position, byte) in source.enumerated() { bytes[place + position] = byte }
        }
    }
}
