internal import NIOCore
import NIOWebSocket
internal import Support

/// Assembles messages from a browser's WebSocket frames (RFC 6455) and detects errors in them. It has no sockets and no
/// timers.
struct MessageAssembler {
    enum Step: Equatable {
        /// Nothing to do, such as for a pong or a part of a message.
        case nothing
        case text(ByteBuffer)
        case ping(ByteBuffer)
        /// The browser closes the socket, with its code, or 1005 if it sent none.
        case closed(UInt16)
        /// The socket has to be closed with this code and reason.
        case failed(code: UInt16, reason: String)
    }

    var ignoresBinary = false
    private let maximumBytes: Int
    private let maximumFragments: Int
    private var bucket: TokenBucket
    private var partial: (bytes: ByteBuffer, fragments: Int, isText: Bool)?

    init(_ limits: WebServerLimits, at now: NIODeadline) {
        maximumBytes = limits.maximumMessageBytes
        maximumFragments = limits.maximumFragments
        bucket = TokenBucket(capacity: limits.frameBurst, perSecond: Double(limits.framesPerSecond), at: now)
    }

    mutating func receive(_ frame: WebSocketFrame, at now: NIODeadline) -> Step {
        guard frame.maskKey != nil else { return .failed(code: 1002, reason: "a frame without mask") }
        guard frame.reservedBits.isEmpty else { return .failed(code: 1002, reason: "reserved bits") }
        guard bucket.take(at: now) else { return .failed(code: 1008, reason: "too fast") }
        let data = frame.unmaskedData
        switch frame.opcode {
        case .text, .binary:
            let isText = frame.opcode == .text
            guard isText || ignoresBinary else {
                return .failed(code: 1003, reason: "binary messages are not understood")
            }
            guard partial == nil else { return .failed(code: 1002, reason: "a message within another") }
            partial = (ByteBuffer(), 0, isText)
            return add(data, isLast: frame.fin)
        case .continuation:
            return add(data, isLast: frame.fin)
        case .ping:
            return .ping(data)
        case .pong:
            return .nothing
        case .connectionClose:
            return close(data)
        default:
            return .failed(code: 1002, reason: "an unknown opcode")
        }
    }

    private mutating func add(_ data: ByteBuffer, isLast: Bool) -> Step {
        // Taken out of the property, so that its bytes are not copied for each fragment.
        guard var message = partial.take() else { return .failed(code: 1002, reason: "a continuation of nothing") }
        guard message.bytes.readableBytes + data.readableBytes <= maximumBytes else {
            return .failed(code: 1009, reason: "a message over \(maximumBytes) bytes")
        }
        guard message.fragments < maximumFragments else { return .failed(code: 1009, reason: "too many fragments") }
        message.fragments += 1
        if message.bytes.readableBytes == 0 { message.bytes = data } else { message.bytes.writeImmutableBuffer(data) }
        guard isLast else {
            partial = message
            return .nothing
        }
        guard message.isText else { return .nothing }
        return Self.isText(message.bytes)
            ? .text(message.bytes) : .failed(code: 1007, reason: "a text that is not UTF-8")
    }

    private static func isText(_ bytes: ByteBuffer) -> Bool {
        bytes.withUnsafeReadableBytes { String(validating: $0, as: UTF8.self) != nil }
    }

    private func close(_ data: ByteBuffer) -> Step {
        var data = data
        guard data.readableBytes > 0 else { return .closed(1005) }
        guard let code = data.readInteger(as: UInt16.self) else { return .failed(code: 1002, reason: "half a code") }
        guard Self.isText(data) else { return .failed(code: 1007, reason: "a reason that is not UTF-8") }
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: return .closed(code)
        default: return .failed(code: 1002, reason: "a code that may not be sent")
        }
    }
}
