import Foundation
import SynthElements
import SynthEngine

/// A synthesizer with a pure tone: a sine through an open filter, there at once and gone at once, without effects.
func makePureTone() -> Synthesizer {
    var synthesizer = Synthesizer(sampleRate: Float(Sound.sampleRate))
    let settings: [(Parameter, Float)] = [
        (.waveform, 0), (.detune, 0), (.subOctave, 0), (.cutoff, 18000), (.resonance, 0), (.sweep, 0), (.attack, 0.005),
        (.sustain, 100), (.release, 0.02), (.chorus, 0), (.echo, 0), (.reverb, 0), (.volume, 50),
    ]
    for (parameter, value) in settings { synthesizer.controls.set(parameter, to: value) }
    // Until all of them are where they were set.
    var sound = Sound()
    sound.render(&synthesizer, seconds: 0.2)
    return synthesizer
}

/// The left channel of what was rendered.
struct Sound {
    static let sampleRate = 48000.0
    /// As the server has it: a quarter of its buffer.
    static let period = 64

    private(set) var samples: [Float] = []

    /// Renders so many seconds more.
    mutating func render(_ synthesizer: inout Synthesizer, seconds: Double) {
        let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: 2 * Self.period)
        defer { buffer.deallocate() }
        for _ in 0..<Int((seconds * Self.sampleRate / Double(Self.period)).rounded()) {
            synthesizer.render(into: buffer)
            samples += stride(from: 0, to: buffer.count, by: 2).map { buffer[$0] }
        }
    }

    /// What begins so many seconds after the start.
    func from(_ seconds: Double) -> Sound { Sound(self, seconds..<Double(samples.count) / Self.sampleRate) }

    init() {}

    /// A part of a sound, from one second to another.
    init(_ sound: Sound, _ part: Range<Double>) {
        samples = Array(sound.samples[Int(part.lowerBound * Self.sampleRate)..<Int(part.upperBound * Self.sampleRate)])
    }

    var isSilent: Bool { samples.allSatisfy { abs($0) < 1e-4 } }
    var isSound: Bool { samples.allSatisfy { abs($0) <= 1 } }

    /// The frequency of a pure tone in Hz: its waves from one rise through zero to another, parts of a sample included.
    var frequency: Double {
        let rises = (1..<samples.count).filter { samples[$0 - 1] < 0 && samples[$0] >= 0 }
        guard let first = rises.first, let last = rises.last, first < last else { return 0 }
        func time(_ index: Int) -> Double {
            Double(index) - Double(samples[index] / (samples[index] - samples[index - 1]))
        }
        return Double(rises.count - 1) / (time(last) - time(first)) * Self.sampleRate
    }

    /// The amplitude of what has this frequency in Hz, through Hann's window.
    func amplitude(at frequency: Double) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let window = 1 - cos(2 * .pi * Double(index) / Double(samples.count))
            let angle = 2 * .pi * frequency * Double(index) / Self.sampleRate
            real += Double(sample) * window * cos(angle)
            imaginary += Double(sample) * window * sin(angle)
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(samples.count)
    }

    /// The greatest corner between two neighbours: what is heard as a click. A tone of 440 Hz has 0.0033 of its amplitude;
    /// a jump has all of its height.
    var greatestCorner: Float {
        var greatest: Float = 0
        for index in 1..<samples.count - 1 {
            let mean = (samples[index - 1] + samples[index + 1]) / 2
            greatest = max(greatest, 2 * abs(mean - samples[index]))
        }
        return greatest
    }
}

/// The frequency of a key in Hz.
func frequency(_ key: Float) -> Double { 440 * exp2((Double(key) - 69) / 12) }
