import NIOCore

/// One of the encodings of hub messages.
protocol HubCodec: Sendable {
    /// The name in the handshake.
    var name: String { get }
    /// Whether its bytes are no text.
    var isBinary: Bool { get }
    /// The encoding of nothing.
    var null: ByteBuffer { get }

    /// Appends one encoded value.
    func encode<Value: Encodable>(_ value: Value, into buffer: inout ByteBuffer) throws(SignalRError)
    /// The one value in the bytes.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws(SignalRError) -> Value

    /// What stands before an array of so many elements.
    func beginArray(_ count: Int, into buffer: inout ByteBuffer)
    /// What stands between two elements.
    func separate(into buffer: inout ByteBuffer)
    /// What stands behind the last element.
    func endArray(into buffer: inout ByteBuffer)
    /// Takes the array's beginning off.
    func enterArray(_ array: inout ByteBuffer) throws(SignalRError)
    /// Takes the next element, or `nil` behind the last, off an array that was entered.
    func nextElement(_ array: inout ByteBuffer) throws(SignalRError) -> ByteBuffer?

    /// Appends a message in its frame.
    func write(_ message: HubMessage, into buffer: inout ByteBuffer)
    /// Reads a message without its frame; `nil` for one of a kind that is not known.
    func read(_ bytes: ByteBuffer) throws(SignalRError) -> HubMessage?
}

extension HubCodec {
    /// An array of arguments.
    func encodeArguments<each Argument: Encodable>(_ arguments: repeat each Argument) throws(SignalRError) -> ByteBuffer
    {
        var count = 0
        for _ in repeat (each Argument).self { count += 1 }
        var buffer = ByteBuffer()
        beginArray(count, into: &buffer)
        var index = 0
        for argument in repeat each arguments {
            if index > 0 { separate(into: &buffer) }
            try encode(argument, into: &buffer)
            index += 1
        }
        endArray(into: &buffer)
        return buffer
    }

    /// An array of arguments whose number is known at run time only.
    func encodeArguments(_ arguments: [any Encodable & Sendable]) throws(SignalRError) -> ByteBuffer {
        var buffer = ByteBuffer()
        beginArray(arguments.count, into: &buffer)
        for (index, argument) in arguments.enumerated() {
            if index > 0 { separate(into: &buffer) }
            try encode(argument, into: &buffer)
        }
        endArray(into: &buffer)
        return buffer
    }

    /// One value's bytes.
    func encode<Value: Encodable>(_ value: Value) throws(SignalRError) -> ByteBuffer {
        var buffer = ByteBuffer()
        try encode(value, into: &buffer)
        return buffer
    }
}

extension SignalRError {
    /// The server broke the hub protocol.
    static func violation(_ what: String, cause: (any Error)? = nil) -> SignalRError {
        SignalRError(.protocolViolation, "the server broke the hub protocol: \(what)", cause: cause)
    }
}
