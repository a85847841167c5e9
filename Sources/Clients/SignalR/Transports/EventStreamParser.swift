import NIOCore

/// Parses a stream of server-sent events and delivers the data of each.
///
/// Only the field `data` of the WHATWG format matters here: hubs do not name or number events.
struct EventStreamParser {
    private let maximumEvent: Int
    private var line = ByteBuffer()
    private var data: ByteBuffer?
    private var sawCarriageReturn = false

    init(maximumEvent: Int) { self.maximumEvent = maximumEvent }

    mutating func feed(_ bytes: ByteBuffer, _ event: (ByteBuffer) -> Void) throws(SignalRError) {
        for byte in bytes.readableBytesView {
            let isSecondOfEnd = byte == 0x0A && sawCarriageReturn
            sawCarriageReturn = byte == 0x0D
            if byte == 0x0A || byte == 0x0D {
                if !isSecondOfEnd { endLine(event) }
                continue
            }
            guard line.readableBytes + (data?.readableBytes ?? 0) < maximumEvent else {
                throw SignalRError(.messageTooLarge, "the server sent an event of more than \(maximumEvent) bytes")
            }
            line.writeInteger(byte)
        }
    }

    private mutating func endLine(_ event: (ByteBuffer) -> Void) {
        // Not kept: it would be as large as the longest line so far.
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
