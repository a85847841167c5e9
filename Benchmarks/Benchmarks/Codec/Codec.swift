import AllocationCounter
import Benchmark
import ElementalWire

/// Counts the costs of the codec alone, without sockets: allocations, and instructions where the machine has counters
/// for them. Both are reproducible, which times are not.
let benchmarks: @Sendable () -> Void = {
    let allocations = BenchmarkMetric.custom("Allocations")
    let configuration = Benchmark.Configuration(
        metrics: [.instructions, allocations], scalingFactor: .kilo, maxDuration: .seconds(1))

    /// Adds a benchmark of `body`, which takes the number of repetitions.
    func count(_ name: String, _ body: @escaping (_ repetitions: Range<Int>) -> Void) {
        Benchmark(name, configuration: configuration) { benchmark in
            benchmark.startMeasurement()
            let before = allocation_count()
            body(benchmark.scaledIterations)
            let after = allocation_count()
            benchmark.stopMeasurement()
            benchmark.measurement(allocations, Int(after - before))
        }
    }

    /// Frames as they arrive in a read.
    let stream: [UInt8] = (0..<1000).flatMap { index in
        message(Double(index), header: Envelope.streamByteCount) {
            Envelope.writeStreamHeader(id: 1, length: 8, to: $0)
        }
    }
    /// As many messages as fit into a datagram.
    let datagram: [UInt8] = (0..<100).flatMap { index in
        message(Double(index), header: Envelope.datagramByteCount) {
            Envelope.writeDatagramHeader(id: 1, length: 8, udpIdentifier: 1, to: $0)
        }
    }

    count("decode 1,000 frames of 8 bytes") { repetitions in
        var sum = 0.0
        for _ in repetitions {
            var decoder = StreamDecoder(maximumValueByteCount: 1024)
            try? stream.withUnsafeBytes { bytes in
                try decoder.decode(bytes) { _, value in
                    sum += Double(wireBytes: value.bytes) ?? 0
                    return .next
                }
            }
        }
        blackHole(sum)
    }

    count("decode 1,000 frames in reads of 100 bytes") { repetitions in
        var sum = 0.0
        for _ in repetitions {
            var decoder = StreamDecoder(maximumValueByteCount: 1024)
            try? stream.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: 100) {
                    let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 100, bytes.count)])
                    try decoder.decode(piece) { _, value in
                        sum += Double(wireBytes: value.bytes) ?? 0
                        return .next
                    }
                }
            }
        }
        blackHole(sum)
    }

    count("decode a datagram of 100 messages of 8 bytes") { repetitions in
        var sum = 0.0
        for _ in repetitions {
            let result = datagram.withUnsafeBytes { bytes in
                DatagramDecoder.decode(bytes) { _, _, value in sum += Double(wireBytes: value) ?? 0 }
            }
            blackHole(result)
        }
        blackHole(sum)
    }

    count("encode a frame of 8 bytes") { repetitions in
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return }
            for index in repetitions {
                Envelope.writeStreamHeader(id: 1, length: 8, to: base)
                write(Double(index), to: base + Envelope.streamByteCount)
                blackHole(buffer[5])
            }
        }
    }
}

/// A value with its envelope, `header` bytes long.
private func message(_ value: Double, header: Int, writeHeader: (UnsafeMutableRawPointer) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: header + value.wireByteCount)
    bytes.withUnsafeMutableBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        writeHeader(base)
        write(value, to: base + header)
    }
    return bytes
}

private func write(_ value: Double, to start: UnsafeMutableRawPointer) {
    var destination = OutputRawSpan(
        buffer: UnsafeMutableRawBufferPointer(start: start, count: value.wireByteCount), initializedCount: 0)
    value.writeWireBytes(to: &destination)
}
