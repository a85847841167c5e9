public import NIOCore

extension OSCPacket {
    /// Decodes the packet in a datagram. Time and memory are proportional to the number of bytes, whatever they are.
    ///
    /// A message without type tags, as programs older than OSC 1.0 send it, has no arguments: the bytes after its
    /// address are ignored. Messages of a bundle are left out if OSC 1.0 does not define one of their type tags.
    ///
    /// - Throws: ``OSCError`` if the bytes are not exactly one packet, or exceed ``OSCLimits``.
    public init(reading bytes: ByteBuffer) throws(OSCError) {
        var unknown = 0
        try self.init(reading: bytes, unknownMessages: &unknown)
    }

    /// Decodes the packet in a datagram, as ``init(reading:)`` does, and counts the messages that it leaves out.
    ///
    /// - Parameter unknownMessages: increased by the number of messages that were left out.
    public init(reading bytes: ByteBuffer, unknownMessages: inout Int) throws(OSCError) {
        var decoder = OSCDecoder(bytes)
        self = try decoder.packet(end: bytes.writerIndex, depth: 0)
        unknownMessages += decoder.unknownCount
    }
}

private struct OSCDecoder {
    private var bytes: ByteBuffer
    private var packetCount = 0
    /// Messages of bundles that were left out.
    private(set) var unknownCount = 0

    init(_ bytes: ByteBuffer) { self.bytes = bytes }

    /// Reads a packet that ends exactly at `end`.
    mutating func packet(end: Int, depth: Int) throws(OSCError) -> OSCPacket {
        packetCount += 1
        guard packetCount <= OSCLimits.packets else { throw .limit }
        let count = end - bytes.readerIndex
        guard count >= 4, count % 4 == 0 else { throw .length }
        switch bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) {
        case UInt8(ascii: "/"): return .message(try message(end: end))
        case UInt8(ascii: "#"): return try bundle(end: end, depth: depth)
        default: throw .beginning
        }
    }

    private mutating func bundle(end: Int, depth: Int) throws(OSCError) -> OSCPacket {
        guard depth < OSCLimits.bundleDepth else { throw .limit }
        guard let name: UInt64 = try? number(end), name == Self.bundleName else { throw .beginning }
        let time: UInt64 = try number(end)
        var packets: [OSCPacket] = []
        while bytes.readerIndex < end {
            let length: UInt32 = try number(end)
            guard Int(length) <= end - bytes.readerIndex else { throw .truncated }
            let next = bytes.readerIndex + Int(length)
            do throws(OSCError) {
                packets.append(try packet(end: next, depth: depth + 1))
            } catch {
                // Only this message is discarded (OSC 1.0, "OSC Type Tag String").
                guard error == .typeTags else { throw error }
                unknownCount += 1
                bytes.moveReaderIndex(to: next)
            }
        }
        return .bundle(OSCTimeTag(rawValue: time), packets)
    }

    /// `#bundle` and its NUL.
    private static let bundleName: UInt64 = 0x2362_756E_646C_6500

    private mutating func message(end: Int) throws(OSCError) -> OSCMessage {
        let address = try text(end)
        guard address.utf8.count <= OSCLimits.address else { throw .limit }
        guard bytes.readerIndex < end, bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) == UInt8(ascii: ",")
        else {
            bytes.moveReaderIndex(to: end)
            return OSCMessage(address, [])
        }
        var tags = try textBytes(end).dropFirst()
        guard tags.count <= OSCLimits.arguments else { throw .limit }
        var arguments: [OSCArgument] = []
        arguments.reserveCapacity(tags.count)
        while let tag = tags.popFirst() { arguments.append(try argument(tag, &tags, end, depth: 0)) }
        guard bytes.readerIndex == end else { throw .excess }
        return OSCMessage(address, arguments)
    }

    private mutating func argument(
        _ tag: UInt8, _ tags: inout ByteBufferView.SubSequence, _ end: Int, depth: Int
    ) throws(OSCError) -> OSCArgument {
        switch tag {
        case UInt8(ascii: "i"): return .int32(try number(end))
        case UInt8(ascii: "f"): return .float(Float(bitPattern: try number(end)))
        case UInt8(ascii: "s"): return .string(try text(end))
        case UInt8(ascii: "S"): return .symbol(try text(end))
        case UInt8(ascii: "b"): return .blob(try blob(end))
        case UInt8(ascii: "T"): return .bool(true)
        case UInt8(ascii: "F"): return .bool(false)
        case UInt8(ascii: "N"): return .null
        case UInt8(ascii: "I"): return .impulse
        case UInt8(ascii: "h"): return .int64(try number(end))
        case UInt8(ascii: "t"): return .timeTag(OSCTimeTag(rawValue: try number(end)))
        case UInt8(ascii: "d"): return .double(Double(bitPattern: try number(end)))
        case UInt8(ascii: "c"): return .character(try number(end))
        case UInt8(ascii: "r"): return .color(try number(end))
        case UInt8(ascii: "m"): return .midi(try number(end))
        case UInt8(ascii: "["):
            guard depth < OSCLimits.arrayDepth else { throw .limit }
            var elements: [OSCArgument] = []
            while let next = tags.popFirst() {
                if next == UInt8(ascii: "]") { return .array(elements) }
                elements.append(try argument(next, &tags, end, depth: depth + 1))
            }
            throw .typeTags
        default: throw .typeTags
        }
    }

    private mutating func number<Integer: FixedWidthInteger>(_ end: Int) throws(OSCError) -> Integer {
        guard end - bytes.readerIndex >= MemoryLayout<Integer>.size, let integer: Integer = bytes.readInteger()
        else { throw .truncated }
        return integer
    }

    private mutating func blob(_ end: Int) throws(OSCError) -> ByteBuffer {
        let count: UInt32 = try number(end)
        let padded = (Int(count) + 3) & ~3
        guard padded <= end - bytes.readerIndex, let blob = bytes.readSlice(length: Int(count)) else {
            throw .truncated
        }
        bytes.moveReaderIndex(forwardBy: padded - Int(count))
        return blob
    }

    private mutating func text(_ end: Int) throws(OSCError) -> String {
        guard let text = String(validating: try textBytes(end), as: UTF8.self) else { throw .text }
        return text
    }

    /// Reads the bytes of a text up to its NUL. Its padding is skipped, whatever it contains.
    private mutating func textBytes(_ end: Int) throws(OSCError) -> ByteBufferView {
        let rest = bytes.readableBytesView[bytes.readerIndex..<end]
        guard let nul = rest.firstIndex(of: 0) else { throw .text }
        let text = rest[..<nul]
        let padded = (text.count + 4) & ~3
        guard padded <= rest.count else { throw .truncated }
        bytes.moveReaderIndex(forwardBy: padded)
        return text
    }
}
