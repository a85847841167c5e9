public import Elemental

/// A synthesizer's elements, shared by the server and all that play it.
public enum Synth {
    public static let service = "synth"

    /// A key: its pitch as a MIDI note number, 0...127, where 69 is A4 of 440 Hz and fractions lie between the keys, and its
    /// velocity, 0...1, where 0 lets it go. Over TCP, because each must arrive, and in order.
    public static let note = Element<Vector2>(1, "Note", access: .write)
    /// The hand, each component -1...1: to the right, up (opens the filter by up to 3 octaves), and near (loud; -1 is
    /// silent). It is sent 120 times a second over UDP, so that a lost datagram costs 8 milliseconds.
    public static let motion = Element<Vector3>(2, "Motion", transport: .udp, access: .write, latest: true)
    /// Lets all keys go.
    public static let allNotesOff = Element<Bool>(3, "All notes off", access: .write)

    /// 0 is a sine, 1 a triangle, 2 a saw and 3 a pulse; between them they blend.
    public static let waveform = Element<Float>(4, "Waveform", range: 0...3, latest: true)
    public static let pulseWidth = Element<Float>(5, "Pulse width", unit: "%", range: 5...95, latest: true)
    /// How far apart the two oscillators of a voice are.
    public static let detune = Element<Float>(6, "Detune", unit: "cents", range: 0...50, latest: true)
    /// How much of a sine an octave below there is.
    public static let subOctave = Element<Float>(7, "Sub octave", unit: "%", range: 0...100, latest: true)
    /// 0 is a low pass, 1 a band pass and 2 a high pass; between them they blend.
    public static let filter = Element<Float>(8, "Filter", range: 0...2, latest: true)
    public static let cutoff = Element<Float>(9, "Cutoff", unit: "Hz", range: 20...18000, latest: true)
    public static let resonance = Element<Float>(10, "Resonance", unit: "%", range: 0...100, latest: true)
    /// How far the envelope moves the cutoff.
    public static let sweep = Element<Float>(11, "Filter sweep", unit: "octaves", range: -5...5, latest: true)
    public static let attack = Element<Float>(12, "Attack", unit: "s", range: 0.001...5, latest: true)
    public static let decay = Element<Float>(13, "Decay", unit: "s", range: 0.001...5, latest: true)
    public static let sustain = Element<Float>(14, "Sustain", unit: "%", range: 0...100, latest: true)
    public static let release = Element<Float>(15, "Release", unit: "s", range: 0.005...5, latest: true)
    public static let vibrato = Element<Float>(16, "Vibrato", unit: "cents", range: 0...100, latest: true)
    public static let chorus = Element<Float>(17, "Chorus", unit: "%", range: 0...100, latest: true)
    public static let echo = Element<Float>(18, "Echo", unit: "%", range: 0...90, latest: true)
    public static let echoTime = Element<Float>(19, "Echo time", unit: "s", range: 0.02...1, latest: true)
    public static let reverb = Element<Float>(20, "Reverb", unit: "%", range: 0...100, latest: true)
    public static let volume = Element<Float>(21, "Volume", unit: "%", range: 0...100, latest: true)

    /// The voices that sound, 0...8.
    public static let voices = Element<UInt8>(22, "Voices", access: .read, latest: true)
    /// How often the sound device ran out of samples.
    public static let underruns = Element<UInt32>(23, "Underruns", access: .read, latest: true)

    /// What sets a number, and where it stands at the start.
    public static let faders: [(element: Element<Float>, start: Float)] = [
        (waveform, 2), (pulseWidth, 50), (detune, 7), (subOctave, 20), (filter, 0), (cutoff, 1200), (resonance, 20),
        (sweep, 1), (attack, 0.005), (decay, 0.4), (sustain, 70), (release, 0.3), (vibrato, 0), (chorus, 30),
        (echo, 20),
        (echoTime, 0.375), (reverb, 25), (volume, 70),
    ]
    public static let all: ElementCatalogue = [
        note, motion, allNotesOff, waveform, pulseWidth, detune, subOctave, filter, cutoff, resonance, sweep, attack,
        decay, sustain, release, vibrato, chorus, echo, echoTime, reverb, volume, voices, underruns,
    ]
}
