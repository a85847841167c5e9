import NIOCore

/// A stream from the client to the hub: an argument of a method that takes one.
///
/// ```swift
/// let sum: Int = try await connection.invoke("Sum", streams: [ClientStream(numbers)])
/// ```
public struct ClientStream: Sendable {
    private let body: @Sendable (any HubCodec, @Sendable (ByteBuffer) async throws -> Void) async throws -> Void

    /// What a sequence gives is sent as it comes. An error of the sequence ends the stream with its description, which
    /// the hub sees. The sequence is left when the invocation is over.
    public init<Items: AsyncSequence & Sendable>(_ items: Items) where Items.Element: Encodable & Sendable {
        body = { codec, send in
            for try await item in items { try await send(try codec.encode(item)) }
        }
    }

    func forEach(
        _ codec: any HubCodec, _ send: @Sendable (ByteBuffer) async throws -> Void
    ) async throws {
        try await body(codec, send)
    }
}
