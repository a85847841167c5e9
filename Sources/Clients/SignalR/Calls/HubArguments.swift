import NIOCore

/// The arguments of a call from the hub, for handlers that take any number of them.
public struct HubArguments: Sendable {
    /// The name of the method that the hub called.
    public let method: String
    /// The headers that were sent with the message.
    public let headers: [String: String]
    let codec: any HubCodec
    let array: ByteBuffer

    /// A copy in its own memory, if these arguments are a slice of a much larger buffer.
    var compacted: HubArguments {
        guard array.storageCapacity / 8 > array.readableBytes else { return self }
        return HubArguments(
            method: method, headers: headers, codec: codec, array: ByteBuffer(bytes: array.readableBytesView))
    }

    /// The number of arguments.
    ///
    /// - Throws: ``SignalRError/Code/protocolViolation`` if they are not an array.
    public var count: Int {
        get throws(SignalRError) {
            var reader = try ArgumentReader(self)
            var count = 0
            while try reader.skip() { count += 1 }
            return count
        }
    }

    /// Returns the argument at an index, counted from 0.
    ///
    /// - Throws: ``SignalRError/Code/invalidResult`` if there is none or it is of another type.
    public func decode<Argument: Decodable>(
        _ type: Argument.Type = Argument.self, at index: Int
    ) throws(SignalRError) -> Argument {
        var reader = try ArgumentReader(self)
        for _ in 0..<max(index, 0) { _ = try reader.skip() }
        return try reader.next(type)
    }

    /// Returns all arguments, which have one type.
    ///
    /// - Throws: ``SignalRError/Code/invalidResult`` if one of them is of another type.
    public func decodeAll<Argument: Decodable>(
        _ type: Argument.Type = Argument.self
    ) throws(SignalRError) -> [Argument] {
        try codec.decode([Argument].self, from: array)
    }
}

struct ArgumentReader {
    private let arguments: HubArguments
    private var rest: ByteBuffer
    private var index = 0

    init(_ arguments: HubArguments) throws(SignalRError) {
        self.arguments = arguments
        rest = arguments.array
        try arguments.codec.enterArray(&rest)
    }

    mutating func skip() throws(SignalRError) -> Bool {
        index += 1
        return try arguments.codec.nextElement(&rest) != nil
    }

    mutating func next<Argument: Decodable>(_ type: Argument.Type) throws(SignalRError) -> Argument {
        guard let bytes = try arguments.codec.nextElement(&rest) else {
            throw SignalRError(
                .invalidResult,
                "the hub called '\(arguments.method)' with \(index) arguments, but the handler takes more")
        }
        index += 1
        return try arguments.codec.decode(type, from: bytes)
    }
}
