import NIOCore

/// The items that a streaming method of the hub returns, as they arrive. One task may iterate it.
///
/// The stream is cancelled at the hub when the iterating task is cancelled, which throws
/// ``SignalRError/Code/cancelled``, when ``cancel()`` is called, and when the stream and its iterators are released.
public struct HubStream<Item: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The type of the items.
    public typealias Element = Item
    /// The type of the errors.
    public typealias Failure = SignalRError

    /// Cancels the stream when it and its iterators are released.
    fileprivate final class Subscription: Sendable {
        let items: ItemBuffer
        init(_ items: ItemBuffer) { self.items = items }
        deinit { items.cancel() }
    }

    private let codec: any HubCodec
    private let subscription: Subscription

    init(codec: any HubCodec, items: ItemBuffer) {
        self.codec = codec
        subscription = Subscription(items)
    }

    /// Cancels the stream at the hub. Items that were not consumed are dropped.
    public func cancel() { subscription.items.cancel() }

    /// Returns an iterator over the items.
    public func makeAsyncIterator() -> Iterator { Iterator(codec: codec, subscription: subscription) }

    /// An iterator over the items of a stream.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let codec: any HubCodec
        fileprivate let subscription: Subscription

        /// Returns the next item, or `nil` at the end of the stream.
        ///
        /// - Throws: ``SignalRError`` if the stream failed, was cancelled, or an item is of another type.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SignalRError) -> Item? {
            guard let bytes = try await subscription.items.next(isolation: actor) else { return nil }
            do throws(SignalRError) {
                return try codec.decode(Item.self, from: bytes)
            } catch {
                subscription.items.cancel()
                throw error
            }
        }
    }
}

/// A stream from the client to the hub, for a method that takes one as an argument.
///
/// ```swift
/// let sum: Int = try await connection.invoke("Sum", streams: [ClientStream(numbers)])
/// ```
public struct ClientStream: Sendable {
    let forEach: @Sendable (any HubCodec, @Sendable (ByteBuffer) async throws -> Void) async throws -> Void

    /// Sends each element as the sequence produces it. An error of the sequence ends the stream, and its description is
    /// sent to the hub. Iteration stops when the invocation is over.
    public init<Items: AsyncSequence & Sendable>(_ items: Items) where Items.Element: Encodable & Sendable {
        forEach = { codec, send in
            for try await item in items { try await send(try codec.encode(item)) }
        }
    }
}
