/// The packet identifiers in use, 1...65535. One is used again only after its acknowledgement.
struct FlightWindow {
    private var words = [UInt64](repeating: 0, count: 1024)
    private var last: UInt16 = 0
    /// How many are in use.
    private(set) var count = 0

    /// Takes the next free identifier; there is one, as the limits in use are below the number of identifiers.
    mutating func take() -> UInt16? {
        guard count < 65535 else { return nil }
        repeat { last = last == .max ? 1 : last + 1 } while contains(last)
        words[Int(last >> 6)] |= 1 << UInt64(last & 63)
        count += 1
        return last
    }

    func contains(_ identifier: UInt16) -> Bool {
        words[Int(identifier >> 6)] & 1 << UInt64(identifier & 63) != 0
    }

    /// - Returns: whether it was in use.
    @discardableResult
    mutating func release(_ identifier: UInt16) -> Bool {
        guard contains(identifier) else { return false }
        words[Int(identifier >> 6)] &= ~(1 << UInt64(identifier & 63))
        count -= 1
        return true
    }
}
