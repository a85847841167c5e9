import NIOCore
import SignalR

/// Encodes and decodes the messages of the chat program, each with a sender and a text.
///
/// The layout: the program reads the parts at fixed offsets. [0] the body's length, one byte below 128; [1]
/// 95, an array of five; [2] 01, an invocation; [3] 80; [4] C0; [5] AA "NewMessage"; [16] 92; from [17] the sender and
/// the text. It silently drops a longer body.
enum ChatMessage {
    private static let target = Array("NewMessage".utf8)
    /// The body's bytes before the sender.
    private static let headerByteCount = 5 + target.count + 1
    private static let maximumBodyByteCount = 127
    static let maximumNameByteCount = 16

    /// Returns the records that show an ASCII text with a name, one message each.
    static func payloads(sender: [UInt8], text: [UInt8]) -> [[UInt8]] {
        let sender = Array(sender.prefix(maximumNameByteCount))
        let room = maximumBodyByteCount - headerByteCount - (1 + sender.count) - 2
        return ChatText.pieces(of: text, atMost: room).map { piece in
            framed { body in
                body.writeBytes([0x95, 0x01, 0x80, 0xC0])
                body.writeMessagePack(string: target)
                body.writeMessagePack(arrayOf: 2)
                body.writeMessagePack(string: sender)
                body.writeMessagePack(string: piece)
            }
        }
    }

    /// A message from the program: `[length] 96 01 80 A1 C0 A9 "Broadcast" 92` name, text, `90`.
    static func broadcast(_ body: ByteBuffer) -> (name: [UInt8], text: [UInt8])? { call("Broadcast".utf8, body) }

    /// A hub's call of "NewMessage" with a name and a text, in UTF-8.
    static func news(_ body: ByteBuffer) -> (name: [UInt8], text: [UInt8])? { call(target, body) }

    /// Returns the two texts with which a method is called, or nil for any other message. Texts are bytes, because the
    /// program's invocation identifier, for example, is not UTF-8.
    private static func call(_ method: some Sequence<UInt8>, _ body: ByteBuffer) -> (name: [UInt8], text: [UInt8])? {
        var body = body
        do throws(MessagePackError) {
            guard case .array(5...) = try body.readMessagePack(), try body.readMessagePack() == .integer(1) else {
                return nil
            }
            // The headers and the identifier.
            _ = try body.readMessagePackValue()
            _ = try body.readMessagePackValue()
            guard try body.readMessagePackText().readableBytesView.elementsEqual(method),
                try body.readMessagePack() == .array(2)
            else { return nil }
            let (name, text) = (try body.readMessagePackText(), try body.readMessagePackText())
            return (Array(name.readableBytesView), Array(text.readableBytesView))
        } catch {
            return nil
        }
    }

    /// A framed call of a hub's method without an answer.
    static func invocation(_ method: String, _ arguments: String...) -> [UInt8] {
        framed { body in
            // Invocation: type, no headers, no number, method, arguments, no streams.
            body.writeBytes([0x96, 0x01, 0x80, 0xC0])
            body.writeMessagePack(method)
            body.writeMessagePack(arrayOf: arguments.count)
            for argument in arguments { body.writeMessagePack(argument) }
            body.writeMessagePack(arrayOf: 0)
        }
    }

    static func framed(_ write: (inout ByteBuffer) -> Void) -> [UInt8] {
        var body = ByteBuffer()
        write(&body)
        var message = ByteBuffer()
        message.writeVarInt(body.readableBytes)
        message.writeBuffer(&body)
        return Array(message.readableBytesView)
    }

    /// Returns the messages of a record, in which each follows its length.
    static func bodies(of payload: [UInt8]) -> [ByteBuffer] {
        var bodies: [ByteBuffer] = []
        var rest = ByteBuffer(bytes: payload)
        while let (length, prefix) = try? rest.peekVarInt(), rest.readableBytes >= prefix + length {
            rest.moveReaderIndex(forwardBy: prefix)
            if let body = rest.readSlice(length: length) { bodies.append(body) }
        }
        return bodies
    }
}
