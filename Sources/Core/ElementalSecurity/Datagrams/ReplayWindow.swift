/// Which counters of sealed datagrams have come (RFC 6479): each is taken once, and one that is too old is not.
///
/// Looked at before a datagram is opened, marked after its tag was right: what anyone can send marks nothing.
package struct ReplayWindow: Sendable {
    /// How far behind the newest a counter may be.
    package static let size: UInt64 = 960

    /// 64 counters a word; one word more than the window, the one that is being filled.
    private static let wordCount = 16
    private var words = [UInt64](repeating: 0, count: wordCount)
    /// The newest counter that was marked, and whether there was one.
    package private(set) var newest: UInt64 = 0
    private var isEmpty = true

    package init() {}

    /// Whether a datagram with that counter may be new.
    package func allows(_ counter: UInt64) -> Bool {
        if isEmpty || counter > newest { return true }
        guard newest - counter < Self.size else { return false }
        return words[Self.position(counter)] >> (counter % 64) & 1 == 0
    }

    /// Notes that a datagram with that counter was taken. Only where ``allows(_:)`` says so.
    package mutating func mark(_ counter: UInt64) {
        if isEmpty || counter > newest {
            // Words that the newest counter enters or passes are of no use any more.
            let passed = isEmpty ? 0 : min(counter / 64 - newest / 64, UInt64(Self.wordCount))
            for step in 0..<passed { words[Self.position((counter / 64 - step) * 64)] = 0 }
            newest = counter
            isEmpty = false
        }
        words[Self.position(counter)] |= 1 << (counter % 64)
    }

    private static func position(_ counter: UInt64) -> Int { Int(counter / 64 % UInt64(wordCount)) }
}
