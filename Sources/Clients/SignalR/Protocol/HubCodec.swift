import NIOCore

/// An encoding of hub messages.
protocol HubCodec: Sendable {
    var name: String { get }
    var isBinary: Bool { get }
    var null: ByteBuffer { get }

    func encode<Value: Encodable>(_ value: Value, into buffer: inout ByteBuffer) throws(SignalRError)
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws(SignalRError) -> Value

    func encodeArguments(_ arguments: [any Encodable]) throws(SignalRError) -> ByteBuffer
    func enterArray(_ array: inout ByteBuffer) throws(SignalRError)
    /// Consumes the next element of an array that was entered; `nil` after the last.
    func nextElement(_ array: inout ByteBuffer) throws(SignalRError) -> ByteBuffer?

    /// Appends a message with its framing.
    func write(_ message: HubMessage, into buffer: inout ByteBuffer)
    /// Parses a message without its framing; `nil` for an unknown kind.
    func read(_ bytes: ByteBuffer) throws(SignalRError) -> HubMessage?
}

extension HubCodec {
    func encodeArguments<each Argument: Encodable>(_ arguments: repeat each Argument) throws(SignalRError) -> ByteBuffer
    {
        var list: [any Encodable] = []
        for argument in repeat each arguments { list.append(argument) }
        return try encodeArguments(list)
    }

    func encode<Value: Encodable>(_ value: Value) throws(SignalRError) -> ByteBuffer {
        var buffer = ByteBuffer()
        try encode(value, into: &buffer)
        return buffer
    }
}

extension SignalRError {
    static func violation(_ what: String, cause: (any Error)? = nil) -> SignalRError {
        SignalRError(.protocolViolation, "the server violated the hub protocol: \(what)", cause: cause)
    }
}
