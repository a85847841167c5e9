import Foundation

/// The newest samples, of which one reads those of some time ago.
struct DelayLine: ~Copyable {
    private let samples: UnsafeMutablePointer<Float>
    private let mask: Int
    private var position = 0

    /// - Parameter count: how many samples it keeps at least.
    init(count: Int) {
        mask = 1 << (Int.bitWidth - (count + 2).leadingZeroBitCount) - 1
        samples = .allocate(capacity: mask + 1)
        samples.initialize(repeating: 0, count: mask + 1)
    }

    deinit { samples.deallocate() }

    mutating func write(_ sample: Float) {
        position = (position + 1) & mask
        samples[position] = sample
    }

    /// The sample `delay` samples before the newest one; where it lies between two, their mean by distance.
    func read(_ delay: Float) -> Float {
        let whole = Int(delay)
        let newer = samples[(position - whole) & mask]
        return newer + (samples[(position - whole - 1) & mask] - newer) * (delay - Float(whole))
    }
}

/// Chorus, echo and reverb, one after another.
struct Effects: ~Copyable {
    private let sampleRate: Float
    /// Two of the chorus, two of the echo, eight of the reverb.
    private let lines = UnsafeMutablePointer<DelayLine>.allocate(capacity: 12)
    /// The delays of the reverb's lines in samples, primes, so that their echoes do not coincide.
    private let delays = SIMD8<Float>(1423, 1637, 1877, 2131, 2377, 2683, 2971, 3307)
    private var damped = SIMD8<Float>()
    private var phase: Float = 0
    private var echoDelay: Float

    init(sampleRate: Float, echoTime: Float) {
        self.sampleRate = sampleRate
        echoDelay = echoTime * sampleRate
        for index in 0..<12 {
            (lines + index).initialize(to: DelayLine(count: index < 4 ? Int(1.1 * sampleRate) : 3400))
        }
    }

    deinit { lines.deinitialize(count: 12).deallocate() }

    /// - Parameter input: left and right.
    mutating func next(_ input: SIMD2<Float>, _ values: SIMD32<Float>) -> SIMD2<Float> {
        // Keeps what fades away from numbers so small that processors are slow with them.
        var output = input + 1e-18

        phase += 0.6 / sampleRate
        if phase >= 1 { phase -= 1 }
        let swing = sampleRate * (0.012 + 0.004 * SIMD2(sin(2 * .pi * phase), cos(2 * .pi * phase)))
        for side in 0..<2 {
            lines[side].write(output[side])
            output[side] += values[.chorus] / 100 * lines[side].read(swing[side])
        }

        // The time moves as a tape's head would, or a fader would tear what is on the tape.
        echoDelay += min(max(values[.echoTime] * sampleRate - echoDelay, -0.5), 0.5)
        output += values[.echo] / 100 * SIMD2(lines[2].read(echoDelay), lines[3].read(echoDelay))
        // From side to side.
        for side in 0..<2 { lines[2 + side].write(output[1 - side]) }

        // A feedback delay network: a reflection mixes what comes out of eight lines, and the walls take some of it.
        var ends = SIMD8<Float>()
        for index in 0..<8 { ends[index] = lines[4 + index].read(delays[index]) }
        damped += (ends - damped) * 0.45
        let back = (damped - damped.sum() / 4) * 0.86
        for index in 0..<8 { lines[4 + index].write(back[index] + 0.35 * output[index % 2]) }
        return output + values[.reverb] / 100 * SIMD2(ends.evenHalf.sum(), ends.oddHalf.sum())
    }
}
