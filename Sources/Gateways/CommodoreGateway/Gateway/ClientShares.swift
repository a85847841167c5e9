import NIOCore

/// How much each client has waiting for the machine, and which clients are not read from meanwhile.
///
/// What a client sends behind a value, a ping for instance, is read only when the client is. So one value of any size, and
/// several small ones, never pause their client: it learns at once that they are queued. Only one that goes on sending
/// is paused until the line has caught up.
struct ClientShares<Client: Hashable> {
    /// Bytes of its own that a client may have waiting, and one value more.
    static var ownMark: Int { 16 * 1024 }
    /// Bytes in all above which every client that sends is paused.
    static var totalMark: Int { 1024 * 1024 }
    /// A paused client goes on when this part of what made it wait is left.
    private static var lowPart: Int { 4 }

    private struct Share {
        /// The values that wait: where each ends among all bytes that were ever queued, and its bytes.
        var values: CircularBuffer<(end: Int, byteCount: Int)> = []
        var byteCount = 0
    }

    private var shares: [Client: Share] = [:]
    private var paused: Set<Client> = []

    /// Notes a value that was queued.
    ///
    /// - Parameters:
    ///   - byteCount: its bytes.
    ///   - queued: bytes that were ever queued, its own the last of them.
    ///   - waiting: bytes of those that wait.
    /// - Returns: whether the client has to be paused now; false if it is paused already.
    mutating func note(_ client: Client, _ byteCount: Int, queued: Int, waiting: Int) -> Bool {
        guard byteCount > 0 else { return false }
        settle(client, gone: queued - waiting)
        let before = shares[client]?.byteCount ?? 0
        shares[client, default: Share()].values.append((queued, byteCount))
        shares[client, default: Share()].byteCount += byteCount
        guard before > Self.ownMark || waiting > Self.totalMark else { return false }
        return paused.insert(client).inserted
    }

    /// The clients that may go on.
    ///
    /// - Parameter gone: bytes that were ever queued and do not wait any more.
    mutating func takeResumed(gone: Int, waiting: Int) -> [Client] {
        guard !paused.isEmpty, waiting <= Self.totalMark / Self.lowPart else { return [] }
        for client in paused { settle(client, gone: gone) }
        let resumed = paused.filter { shares[$0]?.byteCount ?? 0 <= Self.ownMark / Self.lowPart }
        paused.subtract(resumed)
        return Array(resumed)
    }

    /// Forgets clients of which nothing waits.
    mutating func settle(gone: Int) {
        for client in Array(shares.keys) { settle(client, gone: gone) }
    }

    /// Forgets everything.
    ///
    /// - Returns: the clients that were paused.
    mutating func removeAll() -> [Client] {
        defer { self = ClientShares() }
        return Array(paused)
    }

    private mutating func settle(_ client: Client, gone: Int) {
        guard var share = shares.removeValue(forKey: client) else { return }
        while let first = share.values.first, first.end <= gone {
            share.byteCount -= first.byteCount
            share.values.removeFirst()
        }
        if !share.values.isEmpty { shares[client] = share }
    }
}
