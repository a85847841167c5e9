import ElementalWire

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// The value that a service has set for each element, as bytes, by identifier.
struct CurrentValues {
    /// A value's bytes; a long one is shared by the queues of the devices.
    enum Value {
        case bytes([UInt8])
        case long(Data)

        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            switch self {
            case .bytes(let bytes): bytes.withUnsafeBytes(body)
            case .long(let data): data.withUnsafeBytes(body)
            }
        }
    }

    private var values: [Value?] = []

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
