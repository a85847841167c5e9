import ElementalWire

/// The newest values of `latest` elements while there is no connection: one for each element.
struct KeptValues {
    /// A value that waits for the connection to return.
    struct Value {
        let id: Int8
        let transport: Transport
        var bytes: [UInt8]
    }

    private var values: [Value] = []

    var count: Int { values.count }

    /// Keeps a value.
    ///
    /// - Returns: whether it took the place of an older one.
    mutating func keep(_ value: Value) -> Bool {
        if let position = values.firstIndex(where: { $0.id == value.id }) {
            values[position] = value
            return true
        }
        values.append(value)
        return false
    }

    /// Takes all out, in the order in which their elements came first.
    mutating func takeAll() -> [Value] {
        defer { values = [] }
        return values
    }
}
