public import Elemental
import Synchronization
import SynthElements

/// A number that makes the sound and glides to where it is set. A fader's has the identifier of its element, below 32.
public enum Parameter: Int, Sendable {
    case waveform = 4, pulseWidth, detune, subOctave, filter, cutoff, resonance, sweep, attack, decay, sustain, release
    case vibrato, chorus, echo, echoTime, reverb, volume
    // The hand's position.
    case pan = 29, brightness, loudness
}

/// What passes from the network to the audio thread and back, without a lock: the parameters, and the keys in a ring.
///
/// One thread at a time plays: the service's event loop, on which all its handlers run.
// Unchecked because of the pointers: they never change, and what they point at is atomic, or guarded by the counts of
// keys, each of which has one writer.
public final class Controls: @unchecked Sendable {
    /// How many keys fit in between two periods of the sound device.
    public static let noteCapacity = 256

    /// The keys put into the ring and taken out of it, ever, and those of them that were all let go at once.
    let written = Atomic(0), taken = Atomic(0), cleared = Atomic(0)
    let sounding = Atomic(0)
    let goals = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 32)
    let ring = UnsafeMutablePointer<Vector2>.allocate(capacity: noteCapacity)
    private let ranges: [ClosedRange<Float>]

    init() {
        var (ranges, starts) = ([ClosedRange<Float>](repeating: -1...1, count: 32), [Float](repeating: 0, count: 32))
        starts[Parameter.loudness.rawValue] = 1
        for (element, start) in Synth.faders {
            let id = Int(element.id)
            if let range = element.range { ranges[id] = Float(range.lowerBound)...Float(range.upperBound) }
            starts[id] = start
        }
        self.ranges = ranges
        for (id, start) in starts.enumerated() { (goals + id).initialize(to: Atomic(start.bitPattern)) }
        ring.initialize(repeating: .zero, count: Self.noteCapacity)
    }

    deinit {
        goals.deinitialize(count: 32).deallocate()
        ring.deallocate()
    }

    /// How many voices sounded in the newest period.
    public var voices: Int { sounding.load(ordering: .relaxed) }

    /// Moves a parameter. Its range bounds the value, and what is no number changes nothing.
    public func set(_ parameter: Parameter, to value: Float) {
        guard !value.isNaN else { return }
        let range = ranges[parameter.rawValue]
        goals[parameter.rawValue].store(
            min(max(value, range.lowerBound), range.upperBound).bitPattern, ordering: .relaxed)
    }

    /// Follows the hand.
    public func move(_ motion: Vector3) {
        set(.pan, to: motion.x)
        set(.brightness, to: motion.y)
        set(.loudness, to: (motion.z + 1) / 2)
    }

    /// Presses a key or lets it go.
    ///
    /// - Throws: ``ValueRefusal`` if it is no key, or if more keys wait than there is room for. Then all are let go, or one
    ///   of them might sound for ever.
    public func play(_ note: Vector2) throws(ValueRefusal) {
        guard (0...127).contains(note.x), (0...1).contains(note.y) else {
            throw ValueRefusal("a note is a pitch of 0 to 127 and a velocity of 0 to 1, not \(note.x) and \(note.y)")
        }
        let number = written.load(ordering: .relaxed)
        guard number - taken.load(ordering: .acquiring) < Self.noteCapacity else {
            releaseAll()
            throw ValueRefusal("more than \(Self.noteCapacity) notes at once: all are let go")
        }
        ring[number % Self.noteCapacity] = note
        written.store(number + 1, ordering: .releasing)
    }

    /// Lets all keys go, also those that wait.
    public func releaseAll() {
        cleared.store(written.load(ordering: .relaxed), ordering: .releasing)
    }
}
