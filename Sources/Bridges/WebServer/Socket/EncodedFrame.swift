package import NIOCore
import NIOWebSocket

/// A message for browsers as a WebSocket frame, encoded once for any number of them.
package struct EncodedFrame: Sendable {
    /// Header and payload, unmasked, as a server sends them.
    let bytes: ByteBuffer
    package var byteCount: Int { bytes.readableBytes }

    /// - Parameter text: UTF-8.
    package init(text: ByteBuffer) { self.init(.text, text) }

    package init(binary: ByteBuffer) { self.init(.binary, binary) }

    init(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) {
        let count = payload.readableBytes
        var bytes = ByteBufferAllocator().buffer(capacity: count + 10)
        bytes.writeInteger(0x80 | UInt8(webSocketOpcode: opcode))
        switch count {
        case ..<126: bytes.writeInteger(UInt8(count))
        case ..<65_536: bytes.writeMultipleIntegers(126 as UInt8, UInt16(count))
        default: bytes.writeMultipleIntegers(127 as UInt8, UInt64(count))
        }
        bytes.writeImmutableBuffer(payload)
        self.bytes = bytes
    }

    /// - Parameter reason: cut to the 123 bytes that fit.
    static func close(_ code: UInt16, _ reason: String) -> EncodedFrame {
        var payload = ByteBuffer(integer: code)
        var text = reason
        while text.utf8.count > 123 { text.removeLast() }
        payload.writeString(text)
        return EncodedFrame(.connectionClose, payload)
    }
}
