import Foundation
import Synchronization

/// The sound itself: from ``controls`` and time to samples, and nothing else.
///
/// One thread renders. There is no lock in it, no allocation and no counting of references.
public final class Synthesizer {
    /// Where other threads move and play it.
    public let controls = Controls()
    private let core: UnsafeMutablePointer<Core>

    /// - Parameter sampleRate: in Hz.
    public init(sampleRate: Double) {
        core = .allocate(capacity: 1)
        core.initialize(to: Core(controls, sampleRate: Float(sampleRate)))
    }

    deinit {
        core.pointee.deallocate()
        core.deallocate()
    }

    /// Makes the next samples, left and right in turns, each -1...1.
    public func render(into samples: UnsafeMutableBufferPointer<Float>) { core.pointee.render(into: samples) }
}

/// What the audio thread alone uses.
private struct Core {
    private static let voiceCount = 8
    /// How far each of the two steps of smoothing goes in a sample: 63 % in 4 ms.
    private let smoothing: Float
    private let sampleRate: Float
    private let parameterCount = Parameter.allCases.count

    private let targets: UnsafeMutablePointer<Atomic<UInt32>>
    private let notes: UnsafeMutablePointer<SIMD2<Float>>
    private let counters: UnsafeMutablePointer<Controls.Counters>
    private let voices: UnsafeMutablePointer<Voice>

    private var goal: SIMD32<Float>
    private var halfway: SIMD32<Float>
    private var values: SIMD32<Float>
    private var effects: Effects
    private var vibratoPhase: Float = 0
    private var releasedUpTo = 0

    init(_ controls: Controls, sampleRate: Float) {
        self.sampleRate = sampleRate
        smoothing = 1 - exp(-1 / (0.004 * sampleRate))
        (targets, notes, counters) = (controls.targets, controls.notes, controls.counters)
        voices = .allocate(capacity: Self.voiceCount)
        voices.initialize(repeating: Voice(), count: Self.voiceCount)
        goal = .zero
        for parameter in Parameter.allCases { goal[parameter.rawValue] = parameter.start }
        (halfway, values) = (goal, goal)
        effects = Effects(sampleRate: sampleRate)
    }

    func deallocate() {
        voices.deallocate()
        effects.deallocate()
    }

    mutating func render(into samples: UnsafeMutableBufferPointer<Float>) {
        takeNotes()
        for index in 0..<parameterCount {
            goal[index] = Float(bitPattern: targets[index].load(ordering: .relaxed))
        }
        let block = Block(values, sampleRate: sampleRate)
        for frame in 0..<samples.count / 2 {
            // Two steps, so that neither a fader's value nor its slope jumps.
            halfway += (goal - halfway) * smoothing
            values += (halfway - values) * smoothing
            // Who is there stays there, rather than coming nearer by ever smaller numbers.
            let (far, near) = (goal - halfway, goal - values)
            let arrived = far * far + near * near .< 1e-10
            halfway.replace(with: goal, where: arrived)
            values.replace(with: goal, where: arrived)
            let sample = Sample(values, vibrato: sin(2 * .pi * vibratoPhase))
            vibratoPhase += values[.vibratoRate] / sampleRate
            if vibratoPhase >= 1 { vibratoPhase -= 1 }
            var sum = SIMD2<Float>()
            for index in 0..<Self.voiceCount where voices[index].sounds {
                // The voices are spread a little, from the left to the right.
                let side = min(max(values[.pan] + (Float(index) - 3.5) / 10, -1), 1)
                sum += voices[index].next(block, sample) * SIMD2(1 - side, 1 + side)
            }
            let played = effects.next(sum * (0.25 * values[.loudness]), values) * (values[.volume] / 100)
            samples[2 * frame] = Self.limit(played.x)
            samples[2 * frame + 1] = Self.limit(played.y)
        }
        var sounding = 0
        for index in 0..<Self.voiceCount where voices[index].sounds { sounding += 1 }
        counters.pointee.voices.store(sounding, ordering: .relaxed)
    }

    /// Starts and ends what was played since the last block.
    private mutating func takeNotes() {
        let first = counters.pointee.taken.load(ordering: .relaxed)
        let end = counters.pointee.written.load(ordering: .acquiring)
        let released = counters.pointee.releasedUpTo.load(ordering: .acquiring)
        if released != releasedUpTo {
            releasedUpTo = released
            for index in 0..<Self.voiceCount { voices[index].release() }
        }
        for number in max(first, min(released, end))..<end {
            let note = notes[number % Controls.noteCapacity]
            if note.y > 0 {
                let index = voice(for: note.x)
                voices[index].start(pitch: note.x, velocity: note.y, order: number, sampleRate: sampleRate)
            } else {
                for index in 0..<Self.voiceCount where voices[index].pitch == note.x { voices[index].release() }
            }
        }
        counters.pointee.taken.store(end, ordering: .releasing)
    }

    /// The voice for a key: the same key's, a free one, the most silent of those let go, or the oldest.
    private func voice(for pitch: Float) -> Int {
        var best = 0
        var least = Double.infinity
        for index in 0..<Self.voiceCount {
            let cost = voices[index].cost(for: pitch)
            if cost < least { (best, least) = (index, cost) }
        }
        return best
    }

    /// Rounds off what is too loud.
    private static func limit(_ sample: Float) -> Float {
        let x = sample.isNaN ? 0 : min(max(sample, -3), 3)
        return x * (27 + x * x) / (27 + 9 * x * x)
    }
}
