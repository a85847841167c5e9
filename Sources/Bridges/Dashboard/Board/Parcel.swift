import NIOCore
internal import WebServer

/// A message with values for pages, and which ones they are.
struct Parcel {
    let frame: EncodedFrame
    /// Elements by their services' numbers.
    let items: [UInt32: Set<Int8>]
}

/// Packs values into messages of moderate size, so that a page with little room gets some of them at least.
struct Packer {
    /// A message with so many bytes takes no further values.
    private static let size = 128 << 10

    private var text = ByteBuffer()
    private var items: [UInt32: Set<Int8>] = [:]
    private var last: UInt32?
    private var parcels: [Parcel] = []

    /// Adds the present values of these elements.
    mutating func add(_ ids: some Sequence<Int8>, of service: BoardService) {
        for id in ids { add(id, of: service) }
    }

    /// Adds the present value of an element.
    ///
    /// - Returns: whether there is one to tell.
    @discardableResult
    mutating func add(_ id: Int8, of service: BoardService) -> Bool {
        switch service.content(of: id) {
        case .text(let value): add(value, id, service.number)
        case .data(let frame): parcels.append(Parcel(frame: frame, items: [service.number: [id]]))
        case nil: return false
        }
        return true
    }

    /// The messages that take no further values.
    mutating func takeFull() -> [Parcel] {
        defer { parcels = [] }
        return parcels
    }

    /// The messages.
    mutating func finish() -> [Parcel] {
        flush()
        return takeFull()
    }

    private mutating func add(_ value: ByteBuffer, _ id: Int8, _ service: UInt32) {
        if last == nil {
            let clock = NIODeadline.now().uptimeNanoseconds / 1_000_000
            text.writeString("{\"t\":\"values\",\"c\":\(clock),\"v\":{\"\(service)\":{")
        } else if last != service {
            text.writeString("},\"\(service)\":{")
        } else {
            text.writeStaticString(",")
        }
        last = service
        text.writeString("\"\(id)\":")
        text.writeImmutableBuffer(value)
        items[service, default: []].insert(id)
        if text.readableBytes >= Self.size { flush() }
    }

    private mutating func flush() {
        guard last != nil else { return }
        text.writeStaticString("}}}")
        parcels.insert(Parcel(frame: EncodedFrame(text: text), items: items), at: 0)
        text = ByteBuffer()
        items = [:]
        last = nil
    }
}
