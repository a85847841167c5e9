import Benchmark
import ElementalWire

/// Measures the wire's code alone: no sockets. Instructions are counted where the machine has counters for them.
let benchmarks: @Sendable () -> Void = {
    let configuration = Benchmark.Configuration(
        metrics: [.instructions, .cpuTotal, .throughput], scalingFactor: .kilo, maxDuration: .seconds(1))

    /// 1,000 frames of one Double each, as they lie in a read.
    let stream: [UInt8] = (0..<1000).flatMap { index in
        var frame = [UInt8](repeating: 0, count: 13)
        frame.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            Envelope.writeStreamHeader(id: 1, length: 8, to: base)
            Double(index).writeWireBytes(to: base + Envelope.streamByteCount)
        }
        return frame
    }

    Benchmark("decode 1,000 frames of 8 bytes", configuration: configuration) { benchmark in
        var sum = 0.0
        for _ in benchmark.scaledIterations {
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

    Benchmark("decode 1,000 frames in reads of 100 bytes", configuration: configuration) { benchmark in
        var sum = 0.0
        for _ in benchmark.scaledIterations {
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

    Benchmark("encode a frame of 8 bytes", configuration: configuration) { benchmark in
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { buffer in
            guard let base = buffer.baseAddress else { return }
            for index in benchmark.scaledIterations {
                Envelope.writeStreamHeader(id: 1, length: 8, to: base)
                Double(index).writeWireBytes(to: base + Envelope.streamByteCount)
                blackHole(buffer[5])
            }
        }
    }
}
