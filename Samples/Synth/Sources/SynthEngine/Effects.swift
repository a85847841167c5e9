import Foundation

/// A line of samples from which one reads those of some time ago.
struct DelayLine {
    private let samples: UnsafeMutablePointer<Float>
    private let mask: Int
    private var position = 0

    /// - Parameter count: how many samples it has at least.
    init(count: Int) {
        let size = 1 << (Int.bitWidth - (count + 2).leadingZeroBitCount)
        samples = .allocate(capacity: size)
        samples.initialize(repeating: 0, count: size)
        mask = size - 1
    }

    func deallocate() { samples.deallocate() }

    mutating func write(_ sample: Float) {
        position = (position + 1) & mask
        samples[position] = sample
    }

    /// The sample written `delay` samples before the newest one, between two where it is no whole number.
    func read(_ delay: Float) -> Float {
        let whole = Int(delay)
        let newer = samples[(position - whole) & mask]
        let older = samples[(position - whole - 1) & mask]
        return newer + (older - newer) * (delay - Float(whole))
    }
}

/// Chorus, echo and reverb, one after another.
struct Effects {
    /// Keeps what fades away from numbers so small that processors are slow with them.
    private static let floor: Float = 1e-18
    /// The lengths of the reverb's lines in samples, primes, so that their echoes do not coincide.
    private static let lengths = SIMD8<Float>(1423, 1637, 1877, 2131, 2377, 2683, 2971, 3307)

    private let sampleRate: Float
    private var chorus: (DelayLine, DelayLine)
    private var echo: (DelayLine, DelayLine)
    private let lines: UnsafeMutablePointer<DelayLine>
    private var damped = SIMD8<Float>()
    private var phase: Float = 0
    private var echoSamples: Float

    init(sampleRate: Float) {
        self.sampleRate = sampleRate
        func line(_ count: Float) -> DelayLine { DelayLine(count: Int(count)) }
        chorus = (line(0.03 * sampleRate), line(0.03 * sampleRate))
        echo = (line(1.1 * sampleRate), line(1.1 * sampleRate))
        lines = .allocate(capacity: 8)
        for index in 0..<8 { (lines + index).initialize(to: line(Self.lengths[index])) }
        echoSamples = Parameter.echoTime.start * sampleRate
    }

    func deallocate() {
        for line in [chorus.0, chorus.1, echo.0, echo.1] { line.deallocate() }
        for index in 0..<8 { lines[index].deallocate() }
        lines.deallocate()
    }

    /// - Parameter input: left and right.
    mutating func next(_ input: SIMD2<Float>, _ values: SIMD32<Float>) -> SIMD2<Float> {
        var output = input + Self.floor

        phase += 0.6 / sampleRate
        if phase >= 1 { phase -= 1 }
        chorus.0.write(output.x)
        chorus.1.write(output.y)
        let depth = 0.004 * sampleRate
        let swing = SIMD2(sin(2 * .pi * phase), cos(2 * .pi * phase)) * depth + 0.012 * sampleRate
        output += values[.chorus] / 100 * SIMD2(chorus.0.read(swing.x), chorus.1.read(swing.y))

        // Its time moves as a tape's head would, or a fader would tear what is on the tape.
        echoSamples += min(max(values[.echoTime] * sampleRate - echoSamples, -0.5), 0.5)
        let repeated = SIMD2(echo.0.read(echoSamples), echo.1.read(echoSamples))
        let fed = output + values[.feedback] / 100 * repeated
        // From side to side.
        echo.0.write(fed.y)
        echo.1.write(fed.x)
        output += values[.echo] / 100 * repeated

        // A feedback delay network: eight lines, whose ends a reflection mixes without loss before the walls take some.
        var ends = SIMD8<Float>()
        for index in 0..<8 { ends[index] = lines[index].read(Self.lengths[index]) }
        damped += (ends - damped) * 0.45
        let back = (damped - damped.sum() / 4) * 0.86
        for index in 0..<8 { lines[index].write(back[index] + 0.35 * output[index % 2]) }
        return output + values[.reverb] / 100 * SIMD2(ends.evenHalf.sum(), ends.oddHalf.sum())
    }
}
