import ElementalWire

/// A service's elements and, by identifier, the encoded value last set for each.
struct CurrentValues {
    /// A value's bytes; the devices' queues share a long one.
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

    private(set) var table: ElementTable
    private var values: [Value?] = Array(repeating: nil, count: Int(Int8.max) + 1)
    /// When the values of timed elements were measured.
    private var times: [Int8: MeasurementTime] = [:]
    private(set) var hasTimes = false
    private let policy: SecurityPolicy
    private var tables: [Role: ElementTable] = [:]

    init(_ table: ElementTable, under policy: SecurityPolicy = .open) {
        self.table = table
        self.policy = policy
    }

    mutating func table(for role: Role) -> ElementTable {
        if policy == .open { return table }
        if let known = tables[role] { return known }
        let table = ElementTable(table.catalogue, for: role, under: policy)
        tables[role] = table
        return table
    }

    /// Hides from a client what its role may not read, even if it still knows earlier elements.
    mutating func restrict(_ device: ElementalDevice) {
        guard policy != .open else { return }
        let hidden = table(for: device.grantedRole ?? .plain).hidden
        device.outbound.withLock { $0.peer.withhold(hidden) }
    }

    mutating func use(_ table: ElementTable) {
        tables.removeAll()
        for id in ids where table.catalogue[id: id] != self.table.catalogue[id: id] {
            values[Int(id)] = nil
            times[id] = nil
        }
        self.table = table
    }

    subscript(id: Int8) -> Value? { values[Int(id)] }

    var ids: [Int8] { values.indices.filter { values[$0] != nil }.map { Int8($0) } }

    mutating func set(_ id: Int8, long: Data) { values[Int(id)] = .long(long) }

    mutating func set(_ id: Int8, _ bytes: UnsafeRawBufferPointer) {
        // A value of the same length reuses the previous one's storage: no allocation in the steady state.
        if case .bytes(var storage) = values[Int(id)].take(), storage.count == bytes.count {
            storage.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
            values[Int(id)] = .bytes(storage)
        } else {
            values[Int(id)] = .bytes([UInt8](bytes))
        }
    }

    /// Sets when the value that has just been set was measured; `nil` if that is not known.
    mutating func setTime(of id: Int8, _ time: MeasurementTime?) {
        times[id] = time
        hasTimes = !times.isEmpty
    }

    mutating func clear(_ id: Int8) -> Bool {
        values[Int(id)].take() != nil
    }

    /// Queues an element's value, if there is one.
    func queue(_ id: Int8, in outbound: inout Outbound<Connection>) {
        switch values[Int(id)] {
        case nil: break
        case .long(let data): outbound.appendCurrent(id, long: data, at: times[id])
        case .bytes(let bytes):
            bytes.withUnsafeBytes { bytes in
                if outbound.peer.timedValues, let time = times[id] {
                    TimedValue.bytes(id, time, bytes).withUnsafeBytes { outbound.appendCurrent(timed: $0) }
                } else {
                    outbound.appendCurrent(id, bytes)
                }
            }
        }
    }
}
