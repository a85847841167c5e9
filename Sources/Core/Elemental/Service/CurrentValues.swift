import ElementalWire

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// A service's elements, and the value that it has set for each, as bytes, by identifier.
struct CurrentValues {
    /// A value's bytes; a long one is shared by the queues of the devices.
    enum Value {
        case bytes([UInt8])
        case long(Data)

        var byteCount: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .long(let data): data.count
            }
        }

        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            switch self {
            case .bytes(let bytes): bytes.withUnsafeBytes(body)
            case .long(let data): data.withUnsafeBytes(body)
            }
        }
    }

    /// What values are checked against.
    private(set) var table: ElementTable
    private var values: [Value?] = []

    init(_ table: ElementTable) { self.table = table }

    /// Takes other elements, and drops the values of those that are not the same in both.
    mutating func use(_ table: ElementTable) {
        for id in ids where table.catalogue[id: id] != self.table.catalogue[id: id] { values[Int(id)] = nil }
        self.table = table
    }

    subscript(id: Int8) -> Value? { Int(id) < values.count ? values[Int(id)] : nil }

    var ids: [Int8] { values.indices.filter { values[$0] != nil }.map { Int8($0) } }

    mutating func set(_ id: Int8, long: Data) {
        makeRoom(for: id)
        values[Int(id)] = .long(long)
    }

    mutating func set(_ id: Int8, _ bytes: UnsafeRawBufferPointer) {
        makeRoom(for: id)
        // A value of the same length goes into the storage of the one before: no allocation in the steady state.
        if case .bytes(var storage) = values[Int(id)].take(), storage.count == bytes.count {
            storage.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
            values[Int(id)] = .bytes(storage)
        } else {
            values[Int(id)] = .bytes([UInt8](bytes))
        }
    }

    private mutating func makeRoom(for id: Int8) {
        while values.count <= Int(id) { values.append(nil) }
    }
}
