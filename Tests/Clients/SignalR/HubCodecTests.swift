import Foundation
import NIOCore
import TestSupport
import Testing

@testable import SignalR

/// The messages in both protocols. The MessagePack bytes are the examples of the public hub protocol page.
struct HubCodecTests {
    /// A message, its JSON and its MessagePack (in hexadecimal digits, without the length), each with its arguments.
    struct Example: Sendable, CustomTestStringConvertible {
        let message: @Sendable (any HubCodec) throws -> HubMessage
        let json: String
        let messagePack: String
        var testDescription: String { json }
    }

    private static func number(_ codec: any HubCodec) throws -> ByteBuffer { try codec.encode(42) }
    private static func numbers(_ codec: any HubCodec) throws -> ByteBuffer { try codec.encodeArguments(42) }

    static let examples: [Example] = [
        Example(
            message: {
                .invocation(id: "xyz", target: "method", arguments: try numbers($0), streams: [], headers: [:])
            },
            json: #"{"type":1,"invocationId":"xyz","target":"method","arguments":[42]}"#,
            messagePack: "960180a378797aa66d6574686f64912a90"),
        Example(
            message: { .invocation(id: nil, target: "method", arguments: try numbers($0), streams: [], headers: [:]) },
            json: #"{"type":1,"target":"method","arguments":[42]}"#,
            messagePack: "960180c0a66d6574686f64912a90"),
        Example(
            message: {
                .invocation(
                    id: "xyz", target: "method", arguments: try numbers($0), streams: ["1"], headers: ["x": "y"])
            },
            json:
                #"{"type":1,"headers":{"x":"y"},"invocationId":"xyz","target":"method","arguments":[42],"streamIds":["1"]}"#,
            messagePack: "960181a178a179a378797aa66d6574686f64912a91a131"),
        Example(
            message: {
                .invocation(
                    id: "xyz", target: "method", arguments: try numbers($0), streams: [], headers: [:], isStream: true)
            },
            json: #"{"type":4,"invocationId":"xyz","target":"method","arguments":[42]}"#,
            messagePack: "960480a378797aa66d6574686f64912a90"),
        Example(
            message: { .streamItem(id: "xyz", item: try number($0)) },
            json: #"{"type":2,"invocationId":"xyz","item":42}"#,
            messagePack: "940280a378797a2a"),
        Example(
            message: { _ in .completion(id: "xyz", .error("Error")) },
            json: #"{"type":3,"invocationId":"xyz","error":"Error"}"#,
            messagePack: "950380a378797a01a54572726f72"),
        Example(
            message: { _ in .completion(id: "xyz", .void) },
            json: #"{"type":3,"invocationId":"xyz"}"#,
            messagePack: "940380a378797a02"),
        Example(
            message: { .completion(id: "xyz", .value(try number($0))) },
            json: #"{"type":3,"invocationId":"xyz","result":42}"#,
            messagePack: "950380a378797a032a"),
        Example(
            message: { _ in .cancelInvocation(id: "xyz") },
            json: #"{"type":5,"invocationId":"xyz"}"#,
            messagePack: "930580a378797a"),
        Example(message: { _ in .ping }, json: #"{"type":6}"#, messagePack: "9106"),
        Example(
            message: { _ in .close(error: "xyz", allowReconnect: true) },
            json: #"{"type":7,"error":"xyz","allowReconnect":true}"#,
            messagePack: "9307a378797ac3"),
        Example(
            message: { _ in .close(error: nil, allowReconnect: false) },
            json: #"{"type":7}"#,
            messagePack: "9307c0c2"),
        Example(message: { _ in .ack(36) }, json: #"{"type":8,"sequenceId":36}"#, messagePack: "920824"),
        Example(message: { _ in .sequence(4919) }, json: #"{"type":9,"sequenceId":4919}"#, messagePack: "9209cd1337"),
    ]

    @Test(arguments: examples)
    func everyMessageInJSON(_ example: Example) throws {
        let codec = HubProtocol.json.codec
        let message = try example.message(codec)
        var bytes = ByteBuffer()
        codec.write(message, into: &bytes)
        #expect(String(buffer: bytes) == example.json + "\u{1e}")
        #expect(try Self.read(&bytes, codec) == message)
    }

    @Test(arguments: examples)
    func everyMessageInMessagePack(_ example: Example) throws {
        let codec = HubProtocol.messagePack.codec
        let message = try example.message(codec)
        var bytes = ByteBuffer()
        codec.write(message, into: &bytes)
        #expect(bytes.hex == String(format: "%02x", example.messagePack.count / 2) + example.messagePack)
        #expect(try Self.read(&bytes, codec) == message)
    }

    /// The page's encodings that this client reads but does not write: longer forms of the same messages.
    @Test
    func otherEncodingsOfMessagesAreRead() throws {
        let codec = HubProtocol.messagePack.codec
        func read(_ hex: String) throws -> HubMessage? { try codec.read(ByteBuffer(hex: hex)) }
        #expect(try read("9207a378797a") == .close(error: "xyz", allowReconnect: false))
        #expect(try read("9208cc24") == .ack(36))
        #expect(try read("9209cc13") == .sequence(19))
        #expect(try read("9107") == .close(error: nil, allowReconnect: false))
        #expect(
            try read("960182a178a179a17aa17aa378797aa66d6574686f64912a90")
                == .invocation(
                    id: "xyz", target: "method", arguments: ByteBuffer(hex: "912a"), streams: [],
                    headers: ["x": "y", "z": "z"]))
        // Before streams to the server an invocation had five fields; servers of today may add some.
        #expect(
            try read("950180c0a66d6574686f64912a")
                == .invocation(id: nil, target: "method", arguments: ByteBuffer(hex: "912a"), streams: [], headers: [:])
        )
        #expect(try read("930580a378797a") == read("940580a378797a01"))
        // aiosignalr's headers when there are none.
        #expect(try read("9305cc80a378797a") == read("930580a378797a"))
        #expect(try read("9163") == nil, "a type that is not known is left out")
    }

    @Test
    func jsonMayComeInAnyOrderAndLayout() throws {
        let codec = HubProtocol.json.codec
        func read(_ json: String) throws -> HubMessage? { try codec.read(ByteBuffer(string: json)) }
        let expected = HubMessage.invocation(
            id: "a\"b", target: "é", arguments: ByteBuffer(string: #"[ {"x":[1,"]"]} , 2]"#), streams: [], headers: [:])
        #expect(
            try read(
                #" { "arguments" : [ {"x":[1,"]"]} , 2] , "new":{"type":9}, "target":"\u00e9","invocationId":"a\"b", "type":1 } "#
            )
                == expected)
        #expect(try read(#"{"type":99}"#) == nil)
        #expect(
            try read(#"{"type":3,"invocationId":"1","error":"x","result":null}"#)
                == .completion(id: "1", .error("x")))
    }

    static let broken = [
        "", "{", "[]", "null", "{}", #"{"type":"1"}"#, #"{"type":1}"#, #"{"type":1,"target":"x"}"#,
        #"{"type":1,"arguments":[]}"#, #"{"type":2,"invocationId":"1"}"#, #"{"type":3}"#,
        #"{"type":4,"target":"x","arguments":[]}"#,
        #"{"type":3,"invocationId":"1","result":1,"error":"x"}"#, #"{"type":5,"invocationId":7}"#, #"{"type":8}"#,
        #"{"type":9,"sequenceId":-1}"#, #"{"type":6}}"#, #"{"type":6,}"#, #"{"type":6"#, #"{"type" 6}"#,
        #"{"type":1,"target":"x","arguments":[}"#, #"{"type":1,"target":"x","arguments":[1 2]}"#,
        "{\"type\":1,\"target\":\"\u{1}\",\"arguments\":[]}",
        #"{"type":1,"target":"x","arguments":"# + String(repeating: "[", count: 100_000) + "}",
    ]

    @Test(arguments: broken)
    func brokenJSONIsAViolation(_ json: String) {
        let error = #expect(throws: SignalRError.self) {
            _ = try HubProtocol.json.codec.read(ByteBuffer(string: json))
        }
        #expect(error?.code == .protocolViolation)
    }

    static let brokenMessagePack = [
        "", "c0", "06", "90", "91c0", "9101", "920180", "960180c0a66d6574686f6491", "950380a378797a0901",
        "930280a178", "9208ff", "96018101c0", "960180c0a178dd7fffffff", "960180c0a178df7fffffff", "c1", "9206",
    ]

    @Test(arguments: brokenMessagePack)
    func brokenMessagePackIsAViolation(_ hex: String) {
        let error = #expect(throws: SignalRError.self) {
            let message = try HubProtocol.messagePack.codec.read(ByteBuffer(hex: hex))
            // A ping may have more fields, even truncated ones: they are ignored.
            if message == .ping { throw SignalRError(.protocolViolation, "") }
        }
        #expect(error?.code == .protocolViolation)
    }

    @Test
    func anyBytesAreDecodedOrAViolation() throws {
        var generator = SeededGenerator(seed: 6)
        for codec in [HubProtocol.json.codec, HubProtocol.messagePack.codec] {
            for example in Self.examples {
                var whole = ByteBuffer()
                codec.write(try example.message(codec), into: &whole)
                for _ in 0..<300 {
                    var bytes = Array(whole.readableBytesView)
                    for _ in 0..<Int.random(in: 1...4, using: &generator) {
                        let index = Int.random(in: bytes.indices, using: &generator)
                        bytes[index] = .random(in: 0...255, using: &generator)
                    }
                    do throws(SignalRError) {
                        var reader = FrameReader(isBinary: codec.isBinary, maximum: 1000)
                        reader.append(ByteBuffer(bytes: bytes))
                        while let frame = try reader.next() {
                            guard case .invocation(_, _, let arguments, _, _, _) = try codec.read(frame) else {
                                continue
                            }
                            let all = HubArguments(method: "", headers: [:], codec: codec, array: arguments)
                            _ = try all.count
                            _ = try all.decodeAll(HubValue.self)
                        }
                    } catch {
                        #expect([.protocolViolation, .messageTooLarge, .invalidResult].contains(error.code))
                    }
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func messagesAreParsedHoweverTheyAreSplit(_ isBinary: Bool) throws {
        let codec = isBinary ? HubProtocol.messagePack.codec : HubProtocol.json.codec
        let messages = try Self.examples.map { try $0.message(codec) }
        var whole = ByteBuffer()
        for message in messages { codec.write(message, into: &whole) }
        for size in [1, 2, 7, 1000] {
            var reader = FrameReader(isBinary: isBinary, maximum: 1000)
            var rest = whole
            var found: [HubMessage] = []
            while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
                reader.append(piece)
                while let frame = try reader.next() { found.append(try #require(try codec.read(frame))) }
            }
            #expect(found == messages)
        }
    }

    /// Each piece ends within a message, so that there is always something left.
    @Test(arguments: [false, true])
    func whatWasReadIsNotKept(_ isBinary: Bool) throws {
        let length = 10_000
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: length)
        let prefix = [UInt8(length & 0x7F | 0x80), UInt8(length >> 7)]
        let message = ByteBuffer(bytes: isBinary ? prefix + body : body + [0x1E])
        var reader = FrameReader(isBinary: isBinary, maximum: length)
        reader.append(message.getSlice(at: 0, length: 100) ?? message)
        var (rest, count) = (message, 0)
        for _ in 0..<1000 {
            var piece = message.getSlice(at: 100, length: message.readableBytes - 100) ?? message
            piece.writeImmutableBuffer(rest.getSlice(at: 0, length: 100) ?? rest)
            rest = message
            reader.append(piece)
            while try reader.next() != nil { count += 1 }
            try #require(reader.pending.readableBytes == 100)
            try #require(reader.pending.storageCapacity < 10 * length)
        }
        #expect(count == 1000)
    }

    @Test
    func tooLargeMessagesAreRefusedBeforeTheyArrive() throws {
        var text = FrameReader(isBinary: false, maximum: 10)
        text.append(ByteBuffer(string: "0123456789"))
        #expect(try text.next() == nil)
        text.append(ByteBuffer(string: "0"))
        #expect(throws: SignalRError.self) { try text.next() }
        var binary = FrameReader(isBinary: true, maximum: 10)
        binary.append(ByteBuffer(hex: "0b"))
        #expect(throws: SignalRError.self) { try binary.next() }
        var endless = FrameReader(isBinary: true, maximum: 10)
        endless.append(ByteBuffer(hex: "ffffffffff"))
        #expect(throws: SignalRError.self) { try endless.next() }
    }

    /// The lengths that the hub protocol page gives.
    @Test
    func lengths() throws {
        for (value, hex) in [(0x35, "35"), (0x1480, "8029"), (Int(Int32.max), "ffffffff07"), (0, "00")] {
            var buffer = ByteBuffer()
            buffer.writeVarInt(value)
            #expect(buffer.hex == hex)
            #expect(try buffer.peekVarInt()?.value == value)
        }
        #expect(try ByteBuffer(hex: "80").peekVarInt() == nil)
    }

    @Test
    func datesOfDotNet() throws {
        let codec = HubProtocol.json.codec
        let date = Date(timeIntervalSince1970: 1_700_000_000.5)
        for text in ["2023-11-14T22:13:20.5Z", "2023-11-14T22:13:20.5000000Z", "2023-11-14T23:13:20.500+01:00"] {
            #expect(try codec.decode(Date.self, from: ByteBuffer(string: "\"\(text)\"")) == date, "\(text)")
        }
        #expect(
            try codec.decode(Date.self, from: ByteBuffer(string: #""2023-11-14T22:13:20Z""#))
                == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(try codec.decode(Date.self, from: codec.encode(date)) == date)
        #expect(String(buffer: try codec.encode(date)).contains("2023-11-14T22:13:20.5"))
    }

    @Test
    func valuesOfJSON() throws {
        let codec = HubProtocol.json.codec
        let text = "a\"b\\c\n\r\t\u{1}\u{1e}é😀"
        #expect(String(buffer: try codec.encode(text)) == "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u001eé😀\"")
        #expect(try codec.decode(String.self, from: codec.encode(text)) == text)
        #expect(
            String(buffer: try codec.encodeArguments(1, "x", true, [1.5], nil as Int?)) == #"[1,"x",true,[1.5],null]"#)
        #expect(String(buffer: try codec.encodeArguments()) == "[]")
        #expect(String(buffer: try codec.encode(Data([1, 2, 3]))) == "\"AQID\"")
        let error = #expect(throws: SignalRError.self) { try codec.encode(Double.nan) }
        #expect(error?.code == .invalidArgument)
        // Numbers that would be changed to infinity.
        for text in ["1e39", "-1e39"] {
            #expect(throws: SignalRError.self) { try codec.decode(Float.self, from: ByteBuffer(string: text)) }
        }
        #expect(throws: SignalRError.self) { try codec.decode([Float].self, from: ByteBuffer(string: "[0,1e39]")) }
    }

    private static func read(_ bytes: inout ByteBuffer, _ codec: any HubCodec) throws -> HubMessage? {
        var reader = FrameReader(isBinary: codec.isBinary, maximum: 1000)
        reader.append(bytes)
        let frame = try #require(try reader.next())
        #expect(try reader.next() == nil)
        return try codec.read(frame)
    }
}

extension ByteBuffer {
    init(hex: String) {
        let digits = Array(hex)
        self.init(
            bytes: stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 })
    }

    var hex: String { readableBytesView.map { String(format: "%02x", $0) }.joined() }
}
