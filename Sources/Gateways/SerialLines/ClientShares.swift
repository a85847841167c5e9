import DequeModule

/// How much each client has queued for the machine on a line, and which clients are paused because of that.
///
/// While a client is paused, what it sends after a value is not read either, a ping for instance. So one value of any
/// size, or several small ones, never pause their client: it learns at once that they are queued. Only a client that
/// keeps sending is paused until the line has caught up.
package struct ClientShares<Client: Hashable> {
    /// Bytes that a client may have queued, plus one value.
    package static var ownMark: Int { 16 * 1024 }
    /// Queued bytes of all clients above which every client that sends is paused.
    package static var totalMark: Int { 1024 * 1024 }
    /// A paused client continues when the queue has drained to this fraction.
    private static var lowPart: Int { 4 }

    private struct Share {
        /// The queued values: where each ends in the stream of all bytes ever queued, and its size.
        var values: Deque<(end: Int, byteCount: Int)> = []
        var byteCount = 0
    }

    private var shares: [Client: Share] = [:]
    private var paused: Set<Client> = []

    package init() {}

    /// Records a queued value.
    ///
    /// - Parameters:
    ///   - byteCount: its bytes.
    ///   - queued: the total of bytes ever queued, including its own.
    ///   - waiting: the bytes still in the queue.
    /// - Returns: whether the client has to be paused now; false if it is paused already.
    package mutating func note(_ client: Client, _ byteCount: Int, queued: Int, waiting: Int) -> Bool {
        guard byteCount > 0 else { return false }
        settle(client, gone: queued - waiting)
        let before = shares[client]?.byteCount ?? 0
        shares[client, default: Share()].values.append((queued, byteCount))
        shares[client, default: Share()].byteCount += byteCount
        guard before > Self.ownMark || waiting > Self.totalMark else { return false }
        return paused.insert(client).inserted
    }

    /// The clients that may continue.
    ///
    /// - Parameter gone: the total of bytes that have left the queue.
    package mutating func takeResumed(gone: Int, waiting: Int) -> [Client] {
        guard !paused.isEmpty, waiting <= Self.totalMark / Self.lowPart else { return [] }
        for client in paused { settle(client, gone: gone) }
        let resumed = paused.filter { shares[$0]?.byteCount ?? 0 <= Self.ownMark / Self.lowPart }
        paused.subtract(resumed)
        return Array(resumed)
    }

    /// Removes clients that have nothing queued.
    package mutating func settle(gone: Int) {
        for client in Array(shares.keys) { settle(client, gone: gone) }
    }

    /// Removes all clients.
    ///
    /// - Returns: the clients that were paused.
    package mutating func removeAll() -> [Client] {
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
