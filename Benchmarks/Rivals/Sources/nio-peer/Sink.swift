import NIOCore
import PeerSupport

/// Counts the messages of a stream, and answers each mark with a report.
final class Sink: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var unread = ByteBuffer()
    private var sink = PeerSink()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if unread.readableBytes == 0 {
            unread = bytes
        } else {
            unread.writeBuffer(&bytes)
        }
        while let frame = Frame.next(&unread) {
            let arrival = frame.withUnsafeReadableBytes { peer_sink_take(&sink, $0.baseAddress, $0.count) }
            if arrival != PEER_VALUE { answer(context) }
        }
        unread.discardReadBytes()
    }

    private func answer(_ context: ChannelHandlerContext) {
        let report = withUnsafeBytes(of: sink.report) { ByteBuffer(bytes: $0) }
        context.writeAndFlush(wrapOutboundOut(Frame.with(report)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A message of a stream: identifier, length as 32 bits little-endian, payload.
enum Frame {
    static let headerByteCount = 5

    static func with(_ payload: ByteBuffer) -> ByteBuffer {
        var payload = payload
        var frame = ByteBuffer()
        frame.writeInteger(1 as Int8)
        frame.writeInteger(UInt32(payload.readableBytes), endianness: .little)
        frame.writeBuffer(&payload)
        return frame
    }

    /// The payload of the first message, if all of it is there.
    static func next(_ bytes: inout ByteBuffer) -> ByteBuffer? {
        guard let length = bytes.getInteger(at: bytes.readerIndex + 1, endianness: .little, as: UInt32.self),
            let payload = bytes.getSlice(at: bytes.readerIndex + headerByteCount, length: Int(length))
        else { return nil }
        bytes.moveReaderIndex(forwardBy: headerByteCount + Int(length))
        return payload
    }
}
