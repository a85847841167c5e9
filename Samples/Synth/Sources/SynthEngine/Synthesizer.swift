import Foundation
import Synchronization

/// The sound itself: from ``controls`` and time to samples. One thread renders; there is no lock in it and no
/// allocation.
public struct Synthesizer: ~Copyable {
    public static let voiceCount = 8

    /// Where other threads play it.
    public let controls = Controls()
    private let sampleRate: Float
    private let voices = UnsafeMutableBufferPointer<Voice>.allocate(capacity: voiceCount)
    private var goal = SIMD32<Float>()
    private var halfway: SIMD32<Float>
    private var values: SIMD32<Float>
    private var effects: Effects
    private var vibratoPhase: Float = 0
    private var cleared = 0

    /// - Parameter sampleRate: in Hz.
    public init(sampleRate: Float) {
        self.sampleRate = sampleRate
        voices.initialize(repeating: Voice())
        for index in 0..<32 { goal[index] = Float(bitPattern: controls.goals[index].load(ordering: .relaxed)) }
        (halfway, values) = (goal, goal)
        effects = Effects(sampleRate: sampleRate, echoTime: goal[.echoTime])
    }

    deinit { voices.deallocate() }

    /// Makes the next samples, left and right in turns, each -1...1.
    public mutating func render(into samples: UnsafeMutableBufferPointer<Float>) {
        takeNotes()
        for index in 0..<32 { goal[index] = Float(bitPattern: controls.goals[index].load(ordering: .relaxed)) }
        // 1.3 is passed by 1 after 1.47 time constants, and a fall by 60 dB takes 6.9.
        let rates = SIMD4(
            rate(values[.attack] / 1.47), rate(values[.decay] / 6.9), rate(values[.release] / 6.9), rate(0.002))
        let smoothing = rate(0.004)
        for frame in 0..<samples.count / 2 {
            // In two steps, so that neither a fader's value nor its slope jumps. Who is near enough is there, rather
            // than coming nearer by ever smaller numbers.
            halfway += (goal - halfway) * smoothing
            values += (halfway - values) * smoothing
            let (far, near) = (goal - halfway, goal - values)
            let arrived = far * far + near * near .< 1e-10
            halfway.replace(with: goal, where: arrived)
            values.replace(with: goal, where: arrived)

            vibratoPhase += 5 / sampleRate
            if vibratoPhase >= 1 { vibratoPhase -= 1 }
            let bend = exp2(values[.vibrato] / 1200 * sin(2 * .pi * vibratoPhase))
            var sum = SIMD2<Float>()
            for index in voices.indices where voices[index].sounds {
                // The voices are spread a little from the left to the right.
                let side = min(max(values[.pan] + (Float(index) - 3.5) / 10, -1), 1)
                let sample = voices[index].next(values, rates: rates, bend: bend, sampleRate: sampleRate)
                sum += sample * SIMD2(1 - side, 1 + side)
            }
            let played = effects.next(sum * (0.25 * values[.loudness]), values) * (values[.volume] / 100)
            (samples[2 * frame], samples[2 * frame + 1]) = (limit(played.x), limit(played.y))
        }
        controls.sounding.store(voices.count { $0.sounds }, ordering: .relaxed)
    }

    /// Starts and ends what was played since the last time.
    private mutating func takeNotes() {
        let first = controls.taken.load(ordering: .relaxed)
        let end = controls.written.load(ordering: .acquiring)
        let newlyCleared = controls.cleared.load(ordering: .acquiring)
        if newlyCleared != cleared {
            cleared = newlyCleared
            for index in voices.indices { voices[index].release() }
        }
        for number in max(first, min(cleared, end))..<end {
            let note = controls.ring[number % Controls.noteCapacity]
            if note.y > 0 {
                let voices = voices
                let best = voices.indices.min { voices[$0].cost(for: note.x) < voices[$1].cost(for: note.x) }
                voices[best ?? 0].start(note, order: number, sampleRate: sampleRate)
            } else {
                for index in voices.indices where voices[index].pitch == note.x { voices[index].release() }
            }
        }
        controls.taken.store(end, ordering: .releasing)
    }

    /// How far one goes to an end in a sample whose distance falls to 37 % in so many seconds.
    private func rate(_ seconds: Float) -> Float { 1 - exp(-1 / (seconds * sampleRate)) }

    /// Rounds off what is too loud.
    private func limit(_ sample: Float) -> Float {
        let x = sample.isNaN ? 0 : min(max(sample, -3), 3)
        return x * (27 + x * x) / (27 + 9 * x * x)
    }
}
