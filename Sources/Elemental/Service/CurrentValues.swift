/// The value that a service has set for each element, as bytes, by identifier.
struct CurrentValues {
    private var values: [[UInt8]?] = []

    subscript(id: Int8) -> [UInt8]? {
        Int(id) < values.count ? values[Int(id)] : nil
    }

    var ids: [Int8] { values.indices.filter { values[$0] != nil }.map { Int8($0) } }

    mutating func set(_ id: Int8, _ bytes: UnsafeRawBufferPointer) {
        let position = Int(id)
        while values.count <= position { values.append(nil) }
        // A value of the same length goes into the storage of the one before: no allocation in the steady state.
        if let count = values[position]?.count, count == bytes.count {
            values[position]?.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
        } else {
            values[position] = [UInt8](bytes)
        }
    }
}
