import Foundation

/// One of eight voices: two oscillators and a sine an octave below, an envelope and a filter. Nothing in it is an object.
struct Voice {
    private enum Stage { case off, attack, decay, release }

    private(set) var pitch: Float = 69
    /// When it was last started, in keys.
    private var order = 0
    private var envelope: Float = 0
    private var stage = Stage.off
    private var velocity: Float = 0
    private var gain: Float = 0
    private var step: Float = 0
    private var phases = SIMD3<Float>(0, 0.37, 0)
    private var state = SIMD2<Float>()

    var sounds: Bool { stage != .off }
    private var isHeld: Bool { stage == .attack || stage == .decay }

    /// What is lost when it is taken for a key: nothing if it is the same key's, or free; then one that was let go, the
    /// more silent the better; then the oldest.
    func cost(for pitch: Float) -> Double {
        if sounds && self.pitch == pitch { return -2 }
        if !sounds { return -1 }
        return isHeld ? 2 + Double(order) : Double(envelope)
    }

    /// Starts a key. A voice that still sounds goes on from where its envelope and its waves are, so that it does not
    /// click when it is taken away from another key.
    mutating func start(pitch: Float, velocity: Float, order: Int, sampleRate: Float) {
        if stage == .off { gain = velocity }
        self.pitch = pitch
        self.velocity = velocity
        self.order = order
        step = min(440 * exp2((pitch - 69) / 12) / sampleRate, 0.45)
        stage = .attack
    }

    mutating func release() { if isHeld { stage = .release } }

    /// The next sample.
    mutating func next(_ block: Block, _ sample: Sample) -> Float {
        switch stage {
        case .off: return 0
        case .attack:
            // Towards a point above 1, so that the curve reaches 1.
            envelope += (1.3 - envelope) * block.attack
            if envelope >= 1 { (envelope, stage) = (1, .decay) }
        case .decay: envelope += (sample.sustain - envelope) * block.decay
        case .release:
            envelope += (-0.001 - envelope) * block.release
            if envelope <= 0 { (envelope, stage) = (0, .off) }
        }
        gain += (velocity - gain) * block.glide

        let first = min(step * sample.bend, 0.45)
        let second = min(first * sample.detune, 0.45)
        let input =
            0.5 * wave(phases.x, first, sample) + 0.5 * wave(phases.y, second, sample)
            + sample.subOctave * sin(2 * .pi * phases.z)
        phases += SIMD3(first, second, first / 2)
        phases -= phases.rounded(.down)

        // A state-variable filter after Andrew Simper (Cytomic, 2013), which stays stable however fast its cutoff moves.
        let cutoff = min(max(sample.cutoff * exp2(sample.sweep * envelope), 20), 0.45 * block.sampleRate)
        let g = tan(.pi * cutoff / block.sampleRate)
        let k = sample.damping
        let a = 1 / (1 + g * (g + k))
        let rest = input - state.y
        let band = a * (state.x + g * rest)
        let low = state.y + g * band
        state = 2 * SIMD2(band, low) - state
        let high = input - k * band - low
        let output = sample.filter.x * low + sample.filter.y * k * band + sample.filter.z * high
        return output * envelope * gain
    }

    /// A wave without what its corners would alias: polynomials round off the two samples around a step or a kink.
    private func wave(_ phase: Float, _ step: Float, _ sample: Sample) -> Float {
        var sum: Float = 0
        if sample.waves.x > 0 { sum += sample.waves.x * sin(2 * .pi * phase) }
        if sample.waves.y > 0 {
            let kinks = Self.kink(phase, step) - Self.kink(Self.wrap(phase + 0.5), step)
            sum += sample.waves.y * (1 - 4 * abs(phase - 0.5) + 8 * step * kinks)
        }
        if sample.waves.z > 0 { sum += sample.waves.z * (2 * phase - 1 - Self.jump(phase, step)) }
        if sample.waves.w > 0 {
            let width = sample.pulseWidth
            let naive: Float = phase < width ? 2 - 2 * width : -2 * width
            let jumps = Self.jump(phase, step) - Self.jump(Self.wrap(phase + 1 - width), step)
            sum += sample.waves.w * (naive + jumps)
        }
        return sum
    }

    private static func wrap(_ phase: Float) -> Float { phase < 1 ? phase : phase - 1 }

    /// What is missing of a smooth jump from -1 to 1 at phase 0.
    private static func jump(_ phase: Float, _ step: Float) -> Float {
        if phase < step {
            let t = phase / step - 1
            return -t * t
        }
        if phase > 1 - step {
            let t = (phase - 1) / step + 1
            return t * t
        }
        return 0
    }

    /// The same of a kink, at which the slope changes by 1 a sample: the integral of the jump.
    private static func kink(_ phase: Float, _ step: Float) -> Float {
        let distance = 1 - min(phase, 1 - phase) / step
        return distance > 0 ? distance * distance * distance / 6 : 0
    }
}

/// What is the same for all samples of a block: how far an envelope goes in a sample.
struct Block {
    let sampleRate: Float
    let attack, decay, release, glide: Float

    init(_ values: SIMD32<Float>, sampleRate: Float) {
        // A fall by 60 dB takes 6.9 time constants; 1.3 is passed by 1 after 1.47 of them.
        func step(_ seconds: Float, _ constants: Float) -> Float { 1 - exp(-constants / (seconds * sampleRate)) }
        self.sampleRate = sampleRate
        attack = step(values[.attack], 1.47)
        decay = step(values[.decay], 6.9)
        release = step(values[.release], 6.9)
        glide = step(0.002, 1)
    }
}

/// What is the same for all voices at a sample.
struct Sample {
    let waves: SIMD4<Float>
    let filter: SIMD3<Float>
    let pulseWidth, detune, subOctave, bend, cutoff, sweep, damping, sustain: Float

    /// - Parameter vibrato: -1...1.
    init(_ values: SIMD32<Float>, vibrato: Float) {
        waves = SIMD4(values[.sine], values[.triangle], values[.saw], values[.pulse])
        filter = SIMD3(values[.lowPass], values[.bandPass], values[.highPass])
        pulseWidth = values[.pulseWidth] / 100
        detune = exp2(values[.detune] / 1200)
        subOctave = values[.subOctave] / 100
        bend = exp2(vibrato * values[.vibrato] / 1200)
        cutoff = values[.cutoff] * exp2(3 * values[.brightness])
        sweep = values[.sweep]
        damping = 2 - 1.95 * values[.resonance] / 100
        sustain = values[.sustain] / 100
    }
}

extension SIMD32<Float> {
    subscript(parameter: Parameter) -> Float { self[parameter.rawValue] }
}
