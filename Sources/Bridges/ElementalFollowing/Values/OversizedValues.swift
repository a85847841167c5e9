/// Detects values that are too large for what a bridge passes them to.
///
/// A hub or a broker accepts messages up to a size that it does not announce, and closes the connection on a larger one.
/// If such a message were sent again after each reconnection, no connection would last. So the largest value sent shortly
/// before a connection was lost is suspected, and after some losses in a row it is skipped, together with every value of
/// its element of that size or more.
package struct OversizedValues<ID: Hashable & Sendable>: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Smaller values are never suspected.
    private static var smallest: Int { 1024 }
    /// The peer closes the connection as soon as it finds a message too large, so values sent earlier than this are not
    /// the cause.
    package static var window: Duration { .seconds(30) }
    /// The suspicion that is enough: two closes by the peer with an error, or three losses of any other kind.
    private static var limit: Int { 3 }

    private struct Sent {
        /// The largest value, and when the first one of that size was sent.
        var byteCount: Int
        var time: Instant
        /// The size that the connection has outlived.
        var harmless = 0
    }

    /// What was sent of each element on this connection.
    private var sent: [ID: Sent] = [:]
    /// How often a connection was lost after a value of an element, and the smallest of these.
    private var suspicions: [ID: (count: Int, byteCount: Int)] = [:]
    /// The size from which on values of an element are skipped.
    private var limits: [ID: Int] = [:]

    package init() {}

    /// A value was sent that takes so many bytes in a message.
    package mutating func note(_ byteCount: Int, of id: ID, at now: Instant) {
        guard byteCount >= Self.smallest else { return }
        guard var earlier = sent[id] else { return sent[id] = Sent(byteCount: byteCount, time: now) }
        guard byteCount > earlier.harmless else { return }
        if now - earlier.time >= Self.window {
            // A connection that lasts after a large value has shown that the peer accepts it.
            earlier.harmless = max(earlier.harmless, earlier.byteCount)
            clear(id, earlier.harmless)
        }
        if byteCount > earlier.byteCount {
            earlier.byteCount = byteCount
            earlier.time = now
        }
        sent[id] = earlier
    }

    /// Whether a value of so many bytes would end the connection.
    package func isTooLarge(_ byteCount: Int, of id: ID) -> Bool {
        guard byteCount >= Self.smallest, let limit = limits[id] else { return false }
        return byteCount >= limit
    }

    /// The connection was lost.
    ///
    /// - Parameter isByPeer: whether the peer ended it with an error.
    /// - Returns: the element of which a value is too large and its bytes, if that is clear now.
    package mutating func connectionLost(isByPeer: Bool, at now: Instant) -> (id: ID, byteCount: Int)? {
        defer { sent = [:] }
        // A connection that lasted after a large value has shown that the peer accepts it.
        for (id, value) in sent where now - value.time >= Self.window { clear(id, value.byteCount) }
        let recent = sent.filter { now - $0.value.time < Self.window && $0.value.byteCount > $0.value.harmless }
        guard let (id, largest) = recent.max(by: { $0.value.byteCount < $1.value.byteCount }) else { return nil }
        var suspicion = suspicions[id] ?? (0, largest.byteCount)
        suspicion.count += isByPeer ? 2 : 1
        suspicion.byteCount = min(suspicion.byteCount, largest.byteCount)
        guard suspicion.count >= Self.limit else {
            suspicions[id] = suspicion
            return nil
        }
        suspicions[id] = nil
        limits[id] = largest.byteCount
        return (id, largest.byteCount)
    }

    /// A connection has outlived a value of that size.
    private mutating func clear(_ id: ID, _ byteCount: Int) {
        if let suspicion = suspicions[id], suspicion.byteCount <= byteCount { suspicions[id] = nil }
    }

    /// Forgets an element, which may be another one now.
    package mutating func forget(_ id: ID) {
        sent[id] = nil
        suspicions[id] = nil
        limits[id] = nil
    }
}
