/// Parses the results from a modem, for a terminal: the counterpart of ``CommandParser``.
package struct ResultParser {
    private var pending: [UInt8] = []

    package init() {}

    /// Whether there is an incomplete record that silence would end.
    package var isWaiting: Bool { !pending.isEmpty }

    /// - Returns: the whole record that the byte completes, code and length included.
    package mutating func receive(_ byte: UInt8) -> [UInt8]? {
        pending.append(byte)
        guard pending.count >= 2, pending.count == 2 + Int(pending[1]) else { return nil }
        defer { pending.removeAll(keepingCapacity: true) }
        return pending
    }

    /// - Returns: the incomplete record, after which the line fell silent.
    package mutating func silence() -> [UInt8] {
        defer { pending.removeAll(keepingCapacity: true) }
        return pending
    }
}
