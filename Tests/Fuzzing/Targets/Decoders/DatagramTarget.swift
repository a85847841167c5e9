import ElementalWire

/// The datagram decoder: the messages that it finds make up the datagram again, all of it or its beginning.
enum DatagramTarget: FuzzTarget {
    static let name = "datagram"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let all = frames.datagrams.flatMap { $0 }
        return frames.datagrams + [all + all]
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        var again: [UInt8] = []
        let result = DatagramDecoder.decode(input) { id, udpIdentifier, value in
            var header = [UInt8](repeating: 0, count: Envelope.datagramByteCount)
            header.withUnsafeMutableBytes { header in
                guard let base = header.baseAddress else { return }
                Envelope.writeDatagramHeader(id: id, length: value.count, udpIdentifier: udpIdentifier, to: base)
            }
            again += header + value
        }
        check(input.starts(with: again), "the messages are not the datagram's")
        check((result == .complete) == (again.count == input.count && !input.isEmpty), "\(result) is not right")
    }
}
