import DequeModule

package protocol LineQueueItem {
    associatedtype Client: Hashable

    var byteCount: Int { get }
    /// The element, if only its newest value counts.
    var latest: Int8? { get }
    /// The client that sent it; `nil` for the gateway itself.
    var client: Client? { get }
}

/// The values that wait for room on a line, in order, and the clients that are paused because too much is queued.
///
/// Only the newest value of a `latest` element waits, in the place of the one that it replaced. An ordered dictionary
/// instead of ``items`` and ``positions`` took three times as long, and 20 µs to remove a value in front of 100,000
/// others.
///
/// While a client is paused, nothing else that it sends is read, for example a ping after a value. One value of any
/// size, or several small ones, therefore never pause their client: it learns at once that they are queued. Only a
/// client that keeps sending is paused until the line has caught up.
package struct LineQueue<Item: LineQueueItem> {
    /// Queued bytes of a client above which its next value pauses it.
    package static var ownMark: Int { 16 * 1024 }
    /// Queued bytes of all clients above which every client that sends is paused.
    package static var totalMark: Int { 1024 * 1024 }
    /// A paused client continues when the queue has drained to this fraction.
    private static var lowPart: Int { 4 }

    private let maximumByteCount: Int
    private var items: Deque<Item> = []
    /// The number of items that have left ``items``. Positions count them too.
    private var removedCount = 0
    /// The position of the queued value of a `latest` element.
    private var positions: [Int8: Int] = [:]
    package private(set) var byteCount = 0
    /// The queued bytes of each client, without `latest` elements, of which no more than one value waits.
    private var shares: [Item.Client: Int] = [:]
    private var paused: Set<Item.Client> = []

    package init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    package var first: Item? { items.first }

    package func value(of latest: Int8?) -> Item? { index(of: latest).map { items[$0] } }

    private func index(of latest: Int8?) -> Int? { latest.flatMap { positions[$0] }.map { $0 - removedCount } }

    /// - Returns: whether there was room.
    package mutating func append(_ item: Item) -> Bool {
        let index = index(of: item.latest)
        let count = byteCount + item.byteCount - (index.map { items[$0].byteCount } ?? 0)
        guard count <= maximumByteCount else { return false }
        byteCount = count
        if let index {
            items[index] = item
            return true
        }
        if let id = item.latest {
            positions[id] = removedCount + items.count
        } else if let client = item.client {
            shares[client, default: 0] += item.byteCount
        }
        items.append(item)
        return true
    }

    @discardableResult
    package mutating func popFirst() -> Item? {
        guard let item = items.popFirst() else { return nil }
        removedCount += 1
        byteCount -= item.byteCount
        if let id = item.latest {
            positions[id] = nil
        } else if let client = item.client {
            let rest = byteCount(of: client) - item.byteCount
            shares[client] = rest > 0 ? rest : nil
        }
        return item
    }

    /// - Returns: all values, in order.
    @discardableResult
    package mutating func removeAll() -> [Item] {
        defer {
            removedCount += items.count
            items = []
            positions = [:]
            shares = [:]
            byteCount = 0
        }
        return Array(items)
    }

    // MARK: Clients

    package func byteCount(of client: Item.Client) -> Int { shares[client] ?? 0 }

    /// Whether a client that has sent a value has to be paused now; false if it is paused already.
    ///
    /// - Parameter before: its queued bytes before that value.
    package mutating func pauses(_ client: Item.Client, before: Int) -> Bool {
        guard byteCount(of: client) > before, before > Self.ownMark || byteCount > Self.totalMark else { return false }
        return paused.insert(client).inserted
    }

    package mutating func takeResumed() -> [Item.Client] {
        guard !paused.isEmpty, byteCount <= Self.totalMark / Self.lowPart else { return [] }
        let resumed = paused.filter { byteCount(of: $0) <= Self.ownMark / Self.lowPart }
        paused.subtract(resumed)
        return Array(resumed)
    }
}
