/// A message of the chat program, sender and text, in the bytes that the program understands.
///
/// Source of the layout: the program takes its parts from fixed places. [0] the body's length, one byte below 128; [1]
/// 95, an array of five; [2] 01, an invocation; [3] 80; [4] C0; [5] AA "NewMessage"; [16] 92; from [17] the sender and
/// the text. It silently drops a longer body.
enum ChatMessage {
    private static let target = Array("NewMessage".utf8)
    /// The body's bytes before the sender.
    private static let headerByteCount = 5 + target.count + 1
    private static let maximumBodyByteCount = 127
    /// The longest name, as the program's own.
    static let maximumNameByteCount = 16

    /// The records that show a text under a name, one message each.
    ///
    /// - Parameters:
    ///   - sender: in ASCII; what is longer than 16 bytes is cut.
    ///   - text: in ASCII.
    static func payloads(sender: [UInt8], text: [UInt8]) -> [[UInt8]] {
        let sender = Array(sender.prefix(maximumNameByteCount))
        let room = maximumBodyByteCount - headerByteCount - (1 + sender.count) - 2
        return ChatText.pieces(of: text, atMost: room).map { piece in
            let body = [0x95, 0x01, 0x80, 0xC0] + string(target) + [0x92] + string(sender) + string(piece)
            return [UInt8(body.count)] + body
        }
    }

    /// fixstr below 32 bytes, str 8 below 256, else str 16. An empty one is the one byte A0.
    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        switch bytes.count {
        case ..<32: [0xA0 | UInt8(bytes.count)] + bytes
        case ..<256: [0xD9, UInt8(bytes.count)] + bytes
        default: [0xDA, UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
        }
    }

    /// What the program says: `[length] 96 01 80 A1 C0 A9 "Broadcast" 92` name, text, `90`.
    ///
    /// - Returns: name and text as bytes, or nil if it is something else, such as a ping.
    static func broadcast(_ body: ArraySlice<UInt8>) -> (name: [UInt8], text: [UInt8])? {
        var reader = MessagePackReader(body)
        guard let count = reader.array(), count >= 5, reader.number() == 1, reader.skip(), reader.skip(),
            let target = reader.string(), target.elementsEqual("Broadcast".utf8), reader.array() == 2,
            let name = reader.string(), let text = reader.string()
        else { return nil }
        return (Array(name), Array(text))
    }

    /// What a hub tells its clients: an invocation of "NewMessage" with a name and a text, in UTF-8.
    ///
    /// - Returns: both, or nil if it is something else.
    static func news(_ body: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, text: ArraySlice<UInt8>)? {
        var reader = MessagePackReader(body)
        guard let count = reader.array(), count >= 5, reader.number() == 1, reader.skip(), reader.skip(),
            let method = reader.string(), method.elementsEqual(target), reader.array() == 2,
            let name = reader.string(), let text = reader.string()
        else { return nil }
        return (name, text)
    }

    /// A call of a hub's method that wants no answer, in the message's frame.
    static func invocation(_ method: String, _ arguments: String...) -> [UInt8] {
        // Invocation: type, no headers, no number, method, arguments, no streams.
        var body: [UInt8] = [0x96, 0x01, 0x80, 0xC0] + string(Array(method.utf8)) + [0x90 | UInt8(arguments.count)]
        for argument in arguments { body += string(Array(argument.utf8)) }
        body.append(0x90)
        var length = body.count
        var prefix: [UInt8] = []
        while length >= 0x80 {
            prefix.append(UInt8(length & 0x7F) | 0x80)
            length >>= 7
        }
        return prefix + [UInt8(length)] + body
    }

    /// The messages of a record, each behind its length as a number of 7-bit groups, the lowest first.
    static func bodies(of payload: [UInt8]) -> [ArraySlice<UInt8>] {
        var bodies: [ArraySlice<UInt8>] = []
        var rest = payload[...]
        while !rest.isEmpty {
            var length = 0
            var shift = 0
            var isWhole = false
            // Five groups at most.
            while !isWhole, shift < 35, let byte = rest.popFirst() {
                length |= Int(byte & 0x7F) << shift
                shift += 7
                isWhole = byte < 0x80
            }
            guard isWhole, rest.count >= length else { break }
            bodies.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return bodies
    }
}
