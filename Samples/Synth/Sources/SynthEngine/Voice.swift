import Foundation

/// One of eight voices: two oscillators and a sine an octave below, an envelope and a filter. There is no object in it.
struct Voice {
    private enum Stage { case off, attack, decay, release }

    private(set) var pitch: Float = 69
    private var stage = Stage.off
    /// When it was started, in keys.
    private var order = 0
    private var envelope: Float = 0
    private var velocity: Float = 0
    private var gain: Float = 0
    private var step: Float = 0
    private var phases = SIMD3<Float>(0, 0.37, 0)
    private var state = SIMD2<Float>()

    var sounds: Bool { stage != .off }

    /// What is lost when a key takes it: nothing if it is the same key's, or free; then one that was let go, the more
    /// silent the better; then the oldest.
    func cost(for pitch: Float) -> Double {
        if !sounds { return -1 }
        if self.pitch == pitch { return -2 }
        return stage == .release ? Double(envelope) : 2 + Double(order)
    }

    /// Starts a key. A voice that still sounds goes on from where its envelope and its waves are, so as not to click.
    mutating func start(_ note: SIMD2<Float>, order: Int, sampleRate: Float) {
        if !sounds { gain = note.y }
        (pitch, velocity, self.order, stage) = (note.x, note.y, order, .attack)
        step = 440 * exp2((pitch - 69) / 12) / sampleRate
    }

    mutating func release() { if sounds { stage = .release } }

    /// The next sample.
    ///
    /// - Parameters:
    ///   - rates: how far attack, decay, release and velocity go towards their ends.
    ///   - bend: what the frequency is multiplied by.
    mutating func next(_ values: SIMD32<Float>, rates: SIMD4<Float>, bend: Float, sampleRate: Float) -> Float {
        switch stage {
        case .off: return 0
        case .attack:
            // Towards a point above 1, so that the curve reaches 1.
            envelope += (1.3 - envelope) * rates.x
            if envelope >= 1 { (envelope, stage) = (1, .decay) }
        case .decay: envelope += (values[.sustain] / 100 - envelope) * rates.y
        case .release:
            envelope += (-0.001 - envelope) * rates.z
            if envelope <= 0 { (envelope, stage) = (0, .off) }
        }
        gain += (velocity - gain) * rates.w

        let first = min(step * bend, 0.45)
        let second = min(first * exp2(values[.detune] / 1200), 0.45)
        let input =
            0.5 * (wave(phases.x, first, values) + wave(phases.y, second, values))
            + values[.subOctave] / 100 * sin(2 * .pi * phases.z)
        phases += SIMD3(first, second, first / 2)
        phases -= phases.rounded(.down)

        // A state-variable filter after Andrew Simper (Cytomic, 2013), which stays stable however fast its cutoff moves.
        let octaves = values[.sweep] * envelope + 3 * values[.brightness]
        let g = tan(.pi * min(max(values[.cutoff] * exp2(octaves) / sampleRate, 0.0004), 0.45))
        let k = 2 - 1.95 * values[.resonance] / 100
        let rest = input - state.y
        let band = (state.x + g * rest) / (1 + g * (g + k))
        let low = state.y + g * band
        state = 2 * SIMD2(band, low) - state
        let type = values[.filter]
        let output =
            share(0, of: type) * low + share(1, of: type) * k * band + share(2, of: type) * (input - k * band - low)
        return output * envelope * gain
    }

    /// How much of a number's neighbour there is in it: 1 of itself, 0 of those that are 1 away.
    private func share(_ number: Float, of value: Float) -> Float { max(0, 1 - abs(value - number)) }

    /// A sine, a triangle, a saw and a pulse, of which one or two neighbours are heard.
    private func wave(_ phase: Float, _ step: Float, _ values: SIMD32<Float>) -> Float {
        let triangle = 1 - 4 * abs(phase - 0.5)
        let saw = saw(phase, step)
        // A pulse is what two saws differ by, and has no constant part.
        let pulse = self.saw(wrap(phase + 1 - values[.pulseWidth] / 100), step) - saw
        let shape = values[.waveform]
        return share(0, of: shape) * sin(2 * .pi * phase) + share(1, of: shape) * triangle + share(2, of: shape) * saw
            + share(3, of: shape) * pulse
    }

    private func wrap(_ phase: Float) -> Float { phase < 1 ? phase : phase - 1 }

    /// A saw whose fall is rounded off by polynomials in the two samples next to it, or it would alias.
    private func saw(_ phase: Float, _ step: Float) -> Float {
        let after = max(0, 1 - phase / step)
        let before = max(0, 1 - (1 - phase) / step)
        return 2 * phase - 1 + after * after - before * before
    }
}

extension SIMD32<Float> {
    subscript(parameter: Parameter) -> Float { self[parameter.rawValue] }
}
