/// Tracks the counters of received sealed datagrams (RFC 6479). Each counter is accepted once, and an old one is
/// refused.
///
/// Check a counter before the datagram is opened, and mark it after the tag was verified: forged datagrams mark
/// nothing.
package struct ReplayWindow: Sendable {
    /// The maximum distance of a counter behind the newest.
    package static let size: UInt64 = 960

    /// 64 counters per word; one word more than the window, for the one being filled.
    private static let wordCount = 16
    private var words = [UInt64](repeating: 0, count: wordCount)
    /// The newest counter that was marked; 0 before the first.
    package private(set) var newest: UInt64 = 0
    private var isEmpty = true

    package init() {}

    /// Whether a datagram with this counter may be new.
    package func allows(_ counter: UInt64) -> Bool {
        if isEmpty || counter > newest { return true }
        guard newest - counter < Self.size else { return false }
        return words[Self.position(counter)] >> (counter % 64) & 1 == 0
    }

    /// Records that a datagram with this counter was accepted. Call it only if ``allows(_:)`` returns true.
    package mutating func mark(_ counter: UInt64) {
        if isEmpty || counter > newest {
            // Words that the newest counter enters or passes hold no counters of the window any more.
            let passed = isEmpty ? 0 : min(counter / 64 - newest / 64, UInt64(Self.wordCount))
            for step in 0..<passed { words[Self.position((counter / 64 - step) * 64)] = 0 }
            newest = counter
            isEmpty = false
        }
        words[Self.position(counter)] |= 1 << (counter % 64)
    }

    private static func position(_ counter: UInt64) -> Int { Int(counter / 64 % UInt64(wordCount)) }
}
