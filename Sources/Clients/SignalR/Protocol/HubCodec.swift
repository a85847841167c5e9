import NIOCore

/// An encoding of hub messages.
protocol HubCodec: Sendable {
    /// The name in the handshake.
    var name: String { get }
    /// Whether it is binary rather than text.
    var isBinary: Bool { get }
    /// The encoding of a null value.
    var null: ByteBuffer { get }

    func encode<Value: Encodable>(_ value: Value, into buffer: inout ByteBuffer) throws(SignalRError)
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws(SignalRError) -> Value

    /// Appends what precedes an array of `count` elements.
    func beginArray(_ count: Int, into buffer: inout ByteBuffer)
    /// Appends what separates two elements.
    func separate(into buffer: inout ByteBuffer)
    /// Appends what follows the last element.
    func endArray(into buffer: inout ByteBuffer)
    /// Consumes the start of an array.
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

    /// An array of arguments whose number is only known at run time.
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

    func encode<Value: Encodable>(_ value: Value) throws(SignalRError) -> ByteBuffer {
        var buffer = ByteBuffer()
        try encode(value, into: &buffer)
        return buffer
    }
}

extension SignalRError {
    static func violation(_ what: String, cause: (any Error)? = nil) -> SignalRError {
        SignalRError(.protocolViolation, "the server broke the hub protocol: \(what)", cause: cause)
    }
}
