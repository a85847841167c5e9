import NIOCore

/// A message of the hub protocol after the handshake, in either direction.
///
/// Arguments, items and results stay encoded: only their users know their types. The hub's headers are read for calls
/// alone.
enum HubMessage: Sendable, Equatable {
    /// Calls a method, which returns a stream or not; without an id, no answer is wanted. `arguments` is an encoded
    /// array.
    case invocation(
        id: String?, target: String, arguments: ByteBuffer, streams: [String], headers: [String: String],
        isStream: Bool = false)
    /// An item of a stream, in either direction.
    case streamItem(id: String, item: ByteBuffer)
    /// The end of an invocation or of a stream.
    case completion(id: String, HubCompletion)
    /// The caller no longer wants the answer or the stream.
    case cancelInvocation(id: String)
    /// A keep-alive.
    case ping
    /// The connection ends.
    case close(error: String?, allowReconnect: Bool)
    /// Acknowledges all counted messages up to this number.
    case ack(Int64)
    /// The number of the next counted message, sent after a stateful reconnect.
    case sequence(Int64)

    /// Whether the message is counted for stateful reconnects: it has a number and is kept until it is acknowledged.
    var isCounted: Bool {
        switch self {
        case .invocation, .streamItem, .completion, .cancelInvocation: true
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
    /// With an error message.
    case error(String)
}
