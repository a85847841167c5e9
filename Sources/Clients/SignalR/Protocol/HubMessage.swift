import NIOCore

/// What both ends of a hub connection say to each other after the handshake.
///
/// Arguments, items and results are kept as the protocol's bytes: only who uses them knows their types.
enum HubMessage: Sendable, Equatable {
    /// Calls a method; with no id, no answer is wanted. `arguments` is an encoded array.
    case invocation(id: String?, target: String, arguments: ByteBuffer, streams: [String], headers: [String: String])
    /// An item of a stream, either way.
    case streamItem(id: String, item: ByteBuffer, headers: [String: String])
    /// The end of an invocation or of a stream.
    case completion(id: String, HubCompletion, headers: [String: String])
    /// Calls a method that answers with a stream.
    case streamInvocation(
        id: String, target: String, arguments: ByteBuffer, streams: [String], headers: [String: String])
    /// The caller no longer wants the answer or the stream.
    case cancelInvocation(id: String, headers: [String: String])
    /// Nothing but a sign of life.
    case ping
    /// The connection ends.
    case close(error: String?, allowReconnect: Bool)
    /// All messages that count, up to that number, have come.
    case ack(Int64)
    /// The number of the next message that counts, said after a reconnect.
    case sequence(Int64)

    /// Whether the message counts for a stateful reconnect: it has a number, and is kept until it is acknowledged.
    var isCounted: Bool {
        switch self {
        case .invocation, .streamItem, .completion, .streamInvocation, .cancelInvocation: true
        case .ping, .close, .ack, .sequence: false
        }
    }
}

/// How an invocation or a stream ended.
enum HubCompletion: Sendable, Equatable {
    /// Without a result.
    case void
    /// With a result, encoded.
    case value(ByteBuffer)
    /// With an error, in words.
    case error(String)
}
