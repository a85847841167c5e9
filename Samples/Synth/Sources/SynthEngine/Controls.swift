public import Elemental
import Synchronization

/// What passes from the network's thread to the audio thread and back, without a lock: a number for each parameter, and
/// the keys in a ring of bounded size.
///
/// One thread at a time may set and play: the service's event loop, on which all its handlers run.
// Unchecked because of the pointers: they never change, and what they point at is atomic, or guarded by the atomic
// positions of the ring, which have one writer each.
public final class Controls: @unchecked Sendable {
    /// How many keys fit between two blocks of samples.
    public static let noteCapacity = 256

    let targets = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: Parameter.allCases.count)
    let notes = UnsafeMutablePointer<SIMD2<Float>>.allocate(capacity: noteCapacity)
    let counters = UnsafeMutablePointer<Counters>.allocate(capacity: 1)

    struct Counters: ~Copyable {
        /// The keys that were put into the ring and taken out of it, ever.
        let written = Atomic<Int>(0), taken = Atomic<Int>(0)
        /// The key up to which all were let go, and before which none counts.
        let releasedUpTo = Atomic<Int>(0)
        let voices = Atomic<Int>(0)
    }

    init() {
        for parameter in Parameter.allCases {
            (targets + parameter.rawValue).initialize(to: Atomic(parameter.start.bitPattern))
        }
        notes.initialize(repeating: .zero, count: Self.noteCapacity)
        counters.initialize(to: Counters())
    }

    deinit {
        targets.deinitialize(count: Parameter.allCases.count).deallocate()
        notes.deallocate()
        counters.deinitialize(count: 1).deallocate()
    }

    /// How many voices sounded in the newest block.
    public var voices: Int { counters.pointee.voices.load(ordering: .relaxed) }

    /// Moves a parameter: its range bounds it, and what is no number changes nothing.
    public func set(_ parameter: Parameter, to value: Float) {
        guard !value.isNaN else { return }
        let value = min(max(value, parameter.range.lowerBound), parameter.range.upperBound)
        targets[parameter.rawValue].store(value.bitPattern, ordering: .relaxed)
    }

    /// Follows the hand.
    public func move(_ motion: Vector3) {
        set(.pan, to: motion.x)
        set(.brightness, to: motion.y)
        set(.loudness, to: (motion.z + 1) / 2)
    }

    public func choose(waveform: UInt8) { choose(Int(waveform), of: Parameter.waveforms) }

    public func choose(filter: UInt8) { choose(Int(filter), of: Parameter.filters) }

    private func choose(_ number: Int, of choices: [Parameter]) {
        guard choices.indices.contains(number) else { return }
        for (index, choice) in choices.enumerated() { set(choice, to: index == number ? 1 : 0) }
    }

    /// Presses a key or lets it go.
    ///
    /// - Throws: ``ValueRefusal`` if it is no key, or if more keys wait than there is room for: then all are let go, or
    ///   one of them would sound for ever.
    public func play(_ note: Vector2) throws(ValueRefusal) {
        guard (0...127).contains(note.x), (0...1).contains(note.y) else {
            throw ValueRefusal("a note is a pitch of 0 to 127 and a velocity of 0 to 1, not \(note.x), \(note.y)")
        }
        let written = counters.pointee.written.load(ordering: .relaxed)
        guard written - counters.pointee.taken.load(ordering: .acquiring) < Self.noteCapacity else {
            releaseAll()
            throw ValueRefusal("more than \(Self.noteCapacity) notes at once; all are let go")
        }
        notes[written % Self.noteCapacity] = note
        counters.pointee.written.store(written + 1, ordering: .releasing)
    }

    /// Lets all keys go, also those that wait.
    public func releaseAll() {
        let written = counters.pointee.written.load(ordering: .relaxed)
        counters.pointee.releasedUpTo.store(written, ordering: .releasing)
    }
}
