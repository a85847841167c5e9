import NIOCore

/// A stream from the client to the hub, for a method that takes one as an argument.
///
/// ```swift
/// let sum: Int = try await connection.invoke("Sum", streams: [ClientStream(numbers)])
/// ```
public struct ClientStream: Sendable {
    /// Encodes and sends each element.
    let forEach: @Sendable (any HubCodec, @Sendable (ByteBuffer) async throws -> Void) async throws -> Void

    /// Sends each element as the sequence produces it. An error of the sequence ends the stream, and its description is
    /// sent to the hub. Iteration stops when the invocation is over.
    public init<Items: AsyncSequence & Sendable>(_ items: Items) where Items.Element: Encodable & Sendable {
        forEach = { codec, send in
            for try await item in items { try await send(try codec.encode(item)) }
        }
    }
}
