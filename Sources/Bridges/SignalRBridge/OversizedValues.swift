import Elemental

/// Detects values that are too large for a hub.
///
/// A hub accepts messages up to a size that it does not announce, and closes the connection on a larger one. If such a
/// message were sent again after each reconnection, no connection would last. So the largest value sent shortly before
/// a connection was lost is suspected, and after some losses in a row it is skipped, together with every value of its
/// element of that size or more.
struct OversizedValues {
    typealias Instant = ContinuousClock.Instant

    /// Smaller values are never suspected.
    static var smallest: Int { 1024 }
    /// A hub closes the connection as soon as it finds a message too large, so values sent earlier than this are not
    /// the cause.
    static var window: Duration { .seconds(30) }
    /// The suspicion that is enough: two closes by the hub with an error, or three losses of any other kind.
    private static var limit: Int { 3 }

    private struct Sent {
        var byteCount: Int
        var time: Instant
    }

    /// The largest value of each element on this connection.
    private var sent: [Int8: Sent] = [:]
    private var suspicions: [Int8: Int] = [:]
    /// The size from which on values of an element are skipped.
    private(set) var limits: [Int8: Int] = [:]

    /// A value was sent.
    mutating func note(_ value: ElementValue, of element: ElementDefinition, at now: Instant) {
        let byteCount = Self.byteCount(of: value)
        guard byteCount >= Self.smallest else { return }
        if let earlier = sent[element.id], earlier.byteCount > byteCount, now - earlier.time < Self.window { return }
        sent[element.id] = Sent(byteCount: byteCount, time: now)
    }

    /// Whether a value would end the connection.
    func isTooLarge(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        limits[element.id].map { Self.byteCount(of: value) >= $0 } ?? false
    }

    /// The connection was lost.
    ///
    /// - Parameter isByHub: whether the hub ended it with an error.
    /// - Returns: the element of which a value is too large and its bytes, if that is clear now.
    mutating func connectionLost(isByHub: Bool, at now: Instant) -> (id: Int8, byteCount: Int)? {
        defer { sent = [:] }
        // A connection that lasted after a large value has shown that the hub accepts it.
        for (id, value) in sent where now - value.time >= Self.window { suspicions[id] = nil }
        let recent = sent.filter { now - $0.value.time < Self.window }
        guard let (id, largest) = recent.max(by: { $0.value.byteCount < $1.value.byteCount }) else { return nil }
        let suspicion = suspicions[id, default: 0] + (isByHub ? 2 : 1)
        guard suspicion >= Self.limit else {
            suspicions[id] = suspicion
            return nil
        }
        suspicions[id] = nil
        limits[id] = largest.byteCount
        return (id, largest.byteCount)
    }

    /// The approximate size of a value in a message, in bytes: data is base64 in JSON.
    static func byteCount(of value: ElementValue) -> Int {
        if case .data(let data) = value { return (data.count + 2) / 3 * 4 }
        return value.wireByteCount
    }
}
