import NIOCore

/// A message of the hub protocol after the handshake, in either direction.
///
/// Arguments, items and results stay encoded: only their users know their types. The hub's headers are read for calls
/// only.
enum HubMessage: Sendable, Equatable {
    /// Calls a method, which may return a stream. Without an id, the caller expects no answer. `arguments` is an
    /// encoded array.
    case invocation(
        id: String?, target: String, arguments: ByteBuffer, streams: [String], headers: [String: String],
        isStream: Bool = false)
    /// An item of a stream, in either direction.
    case streamItem(id: String, item: ByteBuffer)
    /// The end of an invocation or of a stream.
    case completion(id: String, HubCompletion)
    /// The caller no longer wants the answer or the stream.
    case cancelInvocation(id: String)
    case ping
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

enum HubCompletion: Sendable, Equatable {
    case void
    /// With a result, encoded.
    case value(ByteBuffer)
    case error(String)
}

/// The first message in each direction: JSON, whatever the hub protocol.
enum HubHandshake {
    /// - Parameter isStateful: whether the connection can be resumed. ASP.NET Core 10 then requires version 2, unlike
    ///   its specification: with version 1, resuming is answered with 404.
    static func request(_ name: String, isStateful: Bool) -> ByteBuffer {
        ByteBuffer(string: "{\"protocol\":\"\(name)\",\"version\":\(isStateful ? 2 : 1)}\u{1E}")
    }

    /// Consumes the server's response if it is complete, and leaves the messages that follow it.
    static func readResponse(_ frames: inout FrameReader) throws(SignalRError) -> Bool {
        guard let response = try frames.nextText(maximum: .max) else {
            // A real response has a few bytes.
            guard frames.pending.readableBytes <= 64 * 1024 else { throw .violation("a handshake without an end") }
            return false
        }
        if let error = try JSONMembers(response).string("error") {
            throw SignalRError(.handshakeFailed, "the hub refused the handshake: \(error)")
        }
        return true
    }
}
