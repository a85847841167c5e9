import NIOCore

/// Hub messages as MessagePack arrays, each prefixed by its length.
struct MessagePackCodec: HubCodec {
    let name = "messagepack"
    let isBinary = true
    var null: ByteBuffer { ByteBuffer(bytes: [0xC0]) }

    // MARK: - Values

    func encode<Value: Encodable>(_ value: Value, into buffer: inout ByteBuffer) throws(SignalRError) {
        do {
            try MessagePackNode.encode(value, into: &buffer)
        } catch {
            throw SignalRError(
                .invalidArgument, "a value of type \(Value.self) cannot be encoded as MessagePack", cause: error)
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws(SignalRError) -> Value {
        do {
            return try MessagePackValue.decode(type, from: bytes)
        } catch {
            throw SignalRError(.invalidResult, "the server's MessagePack is not a \(type)", cause: error)
        }
    }

    func encodeArguments(_ arguments: [any Encodable]) throws(SignalRError) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeMessagePack(arrayOf: arguments.count)
        for argument in arguments { try encode(argument, into: &buffer) }
        return buffer
    }

    func enterArray(_ array: inout ByteBuffer) throws(SignalRError) {
        guard case .array = try? array.readMessagePack() else { throw .violation("arguments that are not an array") }
    }

    func nextElement(_ array: inout ByteBuffer) throws(SignalRError) -> ByteBuffer? {
        guard array.readableBytes > 0 else { return nil }
        do {
            return try array.readMessagePackValue()
        } catch {
            throw .violation("an argument that is not MessagePack", cause: error)
        }
    }

    // MARK: - Writing

    func write(_ message: HubMessage, into buffer: inout ByteBuffer) {
        var body = ByteBuffer()
        switch message {
        case .invocation(let id, let target, let arguments, let streams, let headers, let isStream):
            begin(6, isStream ? 4 : 1, id, headers, into: &body)
            body.writeMessagePack(target)
            body.writeImmutableBuffer(arguments)
            body.writeMessagePack(arrayOf: streams.count)
            for id in streams { body.writeMessagePack(id) }
        case .streamItem(let id, let item):
            begin(4, 2, id, into: &body)
            body.writeImmutableBuffer(item)
        // The result kinds of completions: 1 is an error, 2 nothing, 3 a value.
        case .completion(let id, .error(let text)):
            begin(5, 3, id, into: &body)
            body.writeInteger(1, as: UInt8.self)
            body.writeMessagePack(text)
        case .completion(let id, .void):
            begin(4, 3, id, into: &body)
            body.writeInteger(2, as: UInt8.self)
        case .completion(let id, .value(let value)):
            begin(5, 3, id, into: &body)
            body.writeInteger(3, as: UInt8.self)
            body.writeImmutableBuffer(value)
        case .cancelInvocation(let id): begin(3, 5, id, into: &body)
        case .ping:
            body.writeMultipleIntegers(UInt8(0x91), UInt8(6))
        case .close(let error, let allowReconnect):
            body.writeMultipleIntegers(UInt8(0x93), UInt8(7))
            if let error { body.writeMessagePack(error) } else { body.writeMessagePackNull() }
            body.writeMessagePack(allowReconnect)
        case .ack(let number):
            body.writeMultipleIntegers(UInt8(0x92), UInt8(8))
            body.writeMessagePack(number)
        case .sequence(let number):
            body.writeMultipleIntegers(UInt8(0x92), UInt8(9))
            body.writeMessagePack(number)
        }
        buffer.writeVarInt(body.readableBytes)
        buffer.writeBuffer(&body)
    }

    private func begin(
        _ count: Int, _ type: UInt8, _ id: String?, _ headers: [String: String] = [:], into body: inout ByteBuffer
    ) {
        body.writeMessagePack(arrayOf: count)
        body.writeInteger(type)
        body.writeMessagePack(mapOf: headers.count)
        for (name, value) in headers {
            body.writeMessagePack(name)
            body.writeMessagePack(value)
        }
        if let id { body.writeMessagePack(id) } else { body.writeMessagePackNull() }
    }

    // MARK: - Reading

    func read(_ bytes: ByteBuffer) throws(SignalRError) -> HubMessage? {
        do {
            return try message(bytes)
        } catch {
            throw .violation("an invalid message in MessagePack", cause: error)
        }
    }

    private func message(_ bytes: ByteBuffer) throws -> HubMessage? {
        var fields = try MessagePackUnkeyedDecoding(MessagePackValue(bytes: bytes, codingPath: []))
        let type = try fields.next().integer(Int.self)
        let headers = (1...5).contains(type) ? headers(try fields.next()) : [:]
        switch type {
        case 1, 4:
            // Some servers send an empty id instead of none.
            let id = try fields.next().stringIfPresent().flatMap { $0.isEmpty && type == 1 ? nil : $0 }
            guard id != nil || type == 1 else {
                throw MessagePackError(description: "an invocation of a stream without an id")
            }
            return .invocation(
                id: id, target: try fields.next().string(), arguments: try fields.next().bytes,
                streams: fields.isAtEnd ? [] : try fields.next().decode([String].self), headers: headers,
                isStream: type == 4)
        case 2: return .streamItem(id: try fields.next().string(), item: try fields.next().bytes)
        case 3: return .completion(id: try fields.next().string(), try completion(&fields))
        case 5: return .cancelInvocation(id: try fields.next().string())
        case 6: return .ping
        case 7:
            let error = fields.isAtEnd ? nil : try fields.next().stringIfPresent()
            return .close(error: error, allowReconnect: fields.isAtEnd ? false : try fields.next().bool())
        case 8, 9:
            let number = try fields.next().integer(Int64.self)
            guard number >= 0 else { throw MessagePackError(description: "the sequence number \(number)") }
            return type == 8 ? .ack(number) : .sequence(number)
        default: return nil
        }
    }

    /// Headers are optional. aiosignalr 0.1.1 sends the number 128 for none, where the byte 0x80 would be right.
    private func headers(_ value: MessagePackValue) -> [String: String] {
        value.bytes.readableBytes == 1 ? [:] : (try? value.decode([String: String].self)) ?? [:]
    }

    private func completion(_ fields: inout MessagePackUnkeyedDecoding) throws -> HubCompletion {
        switch try fields.next().integer(Int.self) {
        case 1: return .error(try fields.next().string())
        case 2: return .void
        case 3: return .value(try fields.next().bytes)
        case let kind: throw MessagePackError(description: "a completion of the kind \(kind)")
        }
    }
}
