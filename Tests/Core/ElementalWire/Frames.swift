import ElementalWire

extension ElementCatalogue {
    init(bytes: [UInt8]) throws { self = try bytes.withUnsafeBytes { try ElementCatalogue(wireBytes: $0) } }
}

extension ElementRepresentable {
    /// What the value writes into as many bytes as it announces.
    var written: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: wireByteCount)
        let count = bytes.withUnsafeMutableBytes { write(to: $0) }
        return Array(bytes[..<count])
    }
}

/// Frames as tests write and read them.
enum Frames {
    struct Frame: Equatable {
        var id: Int8
        var value: [UInt8]
    }

    static func encode(_ id: Int8, _ value: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Envelope.streamByteCount)
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            Envelope.writeStreamHeader(id: id, length: value.count, to: base)
        }
        return bytes + value
    }

    static func encode(_ id: Int8, _ value: ElementValue) -> [UInt8] {
        encode(id, value.wireBytes)
    }

    /// Decodes all at once.
    static func decode(_ bytes: [UInt8], limit: Int = 1 << 20) throws -> [Frame] {
        var decoder = StreamDecoder(maximumValueByteCount: limit)
        return try feed(&decoder, bytes[...])
    }

    /// Decodes the next piece of a stream.
    static func feed(_ decoder: inout StreamDecoder, _ bytes: ArraySlice<UInt8>) throws -> [Frame] {
        var frames: [Frame] = []
        // A copy of exactly these bytes, so that reading past them is found by the address sanitizer.
        try Array(bytes).withUnsafeBytes { bytes in
            try decoder.decode(bytes) { id, value in
                frames.append(Frame(id: id, value: Array(value.bytes)))
                return .next
            }
        }
        return frames
    }
}
