public import Elemental
import SynthElements

/// A number that makes the sound, and that glides to where it is set.
public enum Parameter: Int, CaseIterable, Sendable {
    case pulseWidth, detune, subOctave, cutoff, resonance, sweep, attack, decay, sustain, release, vibrato, vibratoRate
    case chorus, echo, echoTime, feedback, reverb, volume
    // The hand's position.
    case pan, brightness, loudness
    // How much of each there is: one choice fades out while the other fades in.
    case sine, triangle, saw, pulse
    case lowPass, bandPass, highPass

    /// The element that sets it and its value at the start; `nil` for what belongs to an element of several numbers.
    public var fader: (element: Element<Float>, start: Float)? {
        switch self {
        case .pulseWidth: (Synth.pulseWidth, 50)
        case .detune: (Synth.detune, 7)
        case .subOctave: (Synth.subOctave, 20)
        case .cutoff: (Synth.cutoff, 1200)
        case .resonance: (Synth.resonance, 20)
        case .sweep: (Synth.sweep, 1)
        case .attack: (Synth.attack, 0.005)
        case .decay: (Synth.decay, 0.4)
        case .sustain: (Synth.sustain, 70)
        case .release: (Synth.release, 0.3)
        case .vibrato: (Synth.vibrato, 0)
        case .vibratoRate: (Synth.vibratoRate, 5)
        case .chorus: (Synth.chorus, 30)
        case .echo: (Synth.echo, 20)
        case .echoTime: (Synth.echoTime, 0.375)
        case .feedback: (Synth.feedback, 40)
        case .reverb: (Synth.reverb, 25)
        case .volume: (Synth.volume, 70)
        default: nil
        }
    }

    static let waveforms: [Parameter] = [.sine, .triangle, .saw, .pulse]
    static let filters: [Parameter] = [.lowPass, .bandPass, .highPass]

    var start: Float { fader?.start ?? ([.loudness, .saw, .lowPass].contains(self) ? 1 : 0) }

    /// The values that reach the audio thread, whatever was sent.
    var range: ClosedRange<Float> {
        guard let range = fader?.element.range else { return -1...1 }
        return Float(range.lowerBound)...Float(range.upperBound)
    }
}
