/// Detects values that are larger than the peer of a bridge accepts.
///
/// A hub or a broker has a maximum message size that it does not announce, and closes the connection on a larger
/// message. If the bridge sent such a message again after each reconnection, no connection would last. Therefore the
/// largest value sent shortly before a connection was lost is suspected. After some losses in a row it is skipped,
/// together with every value of its element of that size or more.
package struct OversizedValues<ID: Hashable & Sendable>: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Smaller values are never suspected.
    private static var smallest: Int { 1024 }
    /// The peer closes the connection as soon as it detects a message that is too large, so older values are not the
    /// cause.
    package static var window: Duration { .seconds(30) }
    /// The suspicion from which on a value is skipped: two closes by the peer with an error, or three losses of any
    /// other kind.
    private static var limit: Int { 3 }

    private struct Record {
        /// The largest suspicious value on this connection, and when the first one of that size was sent.
        var sent: (byteCount: Int, time: Instant)?
        /// A size that this connection has survived.
        var harmless = 0
        /// How often a connection was lost after a value, weighted by the cause, and the smallest of these values.
        var suspicion: (count: Int, byteCount: Int)?
        /// The size from which on values are skipped.
        var limit = Int.max

        /// If the connection lasts after a large value, the peer has accepted it.
        mutating func settle(at now: Instant) {
            guard let sent, now - sent.time >= window else { return }
            harmless = sent.byteCount
            self.sent = nil
            if let suspicion, suspicion.byteCount <= harmless { self.suspicion = nil }
        }
    }

    private var records: [ID: Record] = [:]

    package init() {}

    /// Records that a value was sent that takes this many bytes in a message.
    package mutating func note(_ byteCount: Int, of id: ID, at now: Instant) {
        guard byteCount >= Self.smallest else { return }
        var record = records[id] ?? Record()
        record.settle(at: now)
        if byteCount > record.sent?.byteCount ?? record.harmless { record.sent = (byteCount, now) }
        records[id] = record
    }

    /// Returns whether a value of this many bytes would end the connection.
    package func isTooLarge(_ byteCount: Int, of id: ID) -> Bool {
        guard byteCount >= Self.smallest, let record = records[id] else { return false }
        return byteCount >= record.limit
    }

    /// - Parameter isByPeer: whether the peer ended the connection with an error.
    /// - Returns: the element and the size of a value that is too large, once that is certain.
    package mutating func connectionLost(isByPeer: Bool, at now: Instant) -> (id: ID, byteCount: Int)? {
        var largest: (id: ID, byteCount: Int)?
        for id in Array(records.keys) {
            records[id]?.settle(at: now)
            if let sent = records[id]?.sent, sent.byteCount > largest?.byteCount ?? 0 { largest = (id, sent.byteCount) }
            records[id]?.sent = nil
            records[id]?.harmless = 0
        }
        guard let largest else { return nil }
        var suspicion = records[largest.id]?.suspicion ?? (0, largest.byteCount)
        suspicion.count += isByPeer ? 2 : 1
        suspicion.byteCount = min(suspicion.byteCount, largest.byteCount)
        let isClear = suspicion.count >= Self.limit
        records[largest.id]?.suspicion = isClear ? nil : suspicion
        if isClear { records[largest.id]?.limit = largest.byteCount }
        return isClear ? largest : nil
    }

    /// Forgets an element, whose identifier may belong to another one now.
    package mutating func forget(_ id: ID) { records[id] = nil }
}
