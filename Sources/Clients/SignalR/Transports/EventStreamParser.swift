import NIOCore

/// Parses a stream of server-sent events and delivers the data of each.
///
/// Only the field `data` of the WHATWG format matters here: hubs do not name or number events.
struct EventStreamParser {
    private let maximumEvent: Int
    private var line = ByteBuffer()
    private var data: ByteBuffer?
    private var sawCarriageReturn = false

    /// - Parameter maximumEvent: the maximum size of an event, in bytes.
    init(maximumEvent: Int) { self.maximumEvent = maximumEvent }

    /// Parses received bytes and calls back with each event's data.
    mutating func feed(_ bytes: ByteBuffer, _ event: (ByteBuffer) -> Void) throws(SignalRError) {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            if sawCarriageReturn {
                sawCarriageReturn = false
                if bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) == 0x0A {
                    bytes.moveReaderIndex(forwardBy: 1)
                    continue
                }
            }
            let end = bytes.readableBytesView.firstIndex { $0 == 0x0A || $0 == 0x0D }
            var part = bytes.readSlice(length: (end ?? bytes.writerIndex) - bytes.readerIndex) ?? ByteBuffer()
            guard line.readableBytes + (data?.readableBytes ?? 0) + part.readableBytes <= maximumEvent else {
                throw SignalRError(.messageTooLarge, "the server sent an event of more than \(maximumEvent) bytes")
            }
            line.writeBuffer(&part)
            guard end != nil, let terminator = bytes.readInteger(as: UInt8.self) else { return }
            sawCarriageReturn = terminator == 0x0D
            endLine(event)
        }
    }

    private mutating func endLine(_ event: (ByteBuffer) -> Void) {
        // Not reused: the buffer would stay as large as the longest line so far.
        defer { line = ByteBuffer() }
        guard line.readableBytes > 0 else {
            if let data = data.take() { event(data) }
            return
        }
        let name = "data".utf8
        guard line.readableBytesView.starts(with: name) else { return }
        line.moveReaderIndex(forwardBy: name.count)
        if let colon = line.readInteger(as: UInt8.self) {
            guard colon == 0x3A else { return }
            if line.getInteger(at: line.readerIndex, as: UInt8.self) == 0x20 { line.moveReaderIndex(forwardBy: 1) }
        }
        if data == nil { data = ByteBuffer() } else { data?.writeInteger(UInt8(0x0A)) }
        data?.writeBuffer(&line)
    }
}
