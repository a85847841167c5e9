import Foundation
import NIOCore

@testable import SignalR

/// What a SignalR hub sends: the messages do not depend on how the network splits them, and none is kept that was read.
enum SignalRTarget: FuzzTarget {
    static let name = "signalr"

    private static let limit = 4096

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let texts = [
            #"{"type":1,"target":"Speed","arguments":[0.5,"x",null,[1e309]]}"#,
            #"{"type":2,"invocationId":"1","item":{}}"#,
            #"{"type":3,"invocationId":"1","error":"\ud800"}"#, #"{"type":6}"#, #"{"type":7,"error":"x"}"#,
            #"{"type":8,"sequenceId":9223372036854775807}"#, #"{"type":1e9}"#, "",
            String(repeating: "[", count: limit),
        ]
        // Whole messages, one that ends within a piece, one without an end.
        let text = texts.map { Array($0.utf8) + [JSONCodec.recordSeparator] }
        let stream = Array(text.joined())
        let binary: [[UInt8]] = [
            [2, 0x91, 6], [8, 0x95, 1, 0x80, 0xC0, 0xA1, 0x41, 0x91, 1], [0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0x80, 0x80, 0x80, 0], [5, 0xDD, 0xFF, 0xFF, 0xFF, 0xFF],
        ]
        let inputs = (text + [stream + stream, Array(stream.dropLast(3))]).map { [0] + $0 }
        let all = inputs + (binary + [Array(binary.prefix(2).joined())]).map { [1] + $0 }
        return [0, 6, 200].flatMap { size in all.map { [$0[0], size] + $0.dropFirst() } }
    }

    /// The first byte says whether the messages are binary, the second how long the pieces are.
    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        let isBinary = reader.byte() % 2 == 1
        let size = Int(reader.byte()) + 1
        let bytes = reader.bytes()
        let messages = read(bytes, isBinary, size: size)
        check(messages == read(bytes, isBinary, size: max(bytes.count, 1)), "the messages in pieces of \(size)")
        let codec: any HubCodec =
            isBinary ? MessagePackCodec() : JSONCodec(encoder: JSONEncoder(), decoder: JSONDecoder())
        for message in messages { _ = try? codec.read(ByteBuffer(bytes: message)) }
    }

    /// - Returns: the messages before the first error.
    private static func read(_ bytes: [UInt8], _ isBinary: Bool, size: Int) -> [[UInt8]] {
        var frames = FrameReader(isBinary: isBinary, maximum: limit)
        var messages: [[UInt8]] = []
        for piece in bytes.pieces(of: size) {
            frames.append(ByteBuffer(bytes: piece))
            do throws(SignalRError) {
                while let message = try frames.next() {
                    check(message.readableBytes <= limit, "a message that is too large")
                    messages.append(Array(message.readableBytesView))
                }
            } catch {
                return messages
            }
            check(frames.pending.readableBytes <= limit + size + 5, "more is kept than one message")
        }
        return messages
    }
}
