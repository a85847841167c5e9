import AllocationWatch
import Elemental
import Foundation
import Synchronization
import SynthElements
import SynthEngine
import Testing

@Suite struct SynthTests {
    @Test(
        "a key has its pitch, and fractions lie between the keys", arguments: [33, 57, 69, 69.5, 76.25, 100] as [Float])
    func pitch(key: Float) throws {
        var synthesizer = makePureTone()
        var sound = Sound()
        try synthesizer.controls.play([key, 1])
        sound.render(&synthesizer, seconds: 0.5)
        let heard = sound.from(0.1).frequency
        // A hundredth of a semitone.
        #expect(abs(1200 * log2(heard / frequency(key))) < 1, "\(heard) Hz")
        #expect(sound.samples.contains { abs($0) > 0.05 })
    }

    @Test("each waveform has the harmonics of its name")
    func harmonics() throws {
        // A voice's two oscillators begin 0.37 of a wave apart, which weakens some harmonics.
        func weakened(_ harmonic: Double) -> Double { abs(cos(.pi * 0.37 * harmonic) / cos(.pi * 0.37)) }
        // The amplitudes of the second and the third one of a single oscillator, as parts of the first one's.
        let expected: [(waveform: Float, second: Double, third: Double)] = [
            (0, 0, 0), (1, 0, 1.0 / 9), (2, 0.5, 1.0 / 3), (3, 0, 1.0 / 3),
        ]
        for (waveform, second, third) in expected {
            var synthesizer = makePureTone()
            var sound = Sound()
            synthesizer.controls.set(.waveform, to: waveform)
            try synthesizer.controls.play([57, 1])
            sound.render(&synthesizer, seconds: 0.4)
            let first = sound.from(0.2).amplitude(at: 220)
            let shares = (sound.from(0.2).amplitude(at: 440) / first, sound.from(0.2).amplitude(at: 660) / first)
            #expect(abs(shares.0 - second * weakened(2)) < 0.05, "waveform \(waveform)")
            #expect(abs(shares.1 - third * weakened(3)) < 0.05, "waveform \(waveform)")
        }
    }

    @Test("the filter takes what is above its cutoff, and the hand opens it")
    func filter() throws {
        var synthesizer = makePureTone()
        var sound = Sound()
        synthesizer.controls.set(.waveform, to: 2)
        synthesizer.controls.set(.cutoff, to: 300)
        try synthesizer.controls.play([57, 1])
        sound.render(&synthesizer, seconds: 0.3)
        synthesizer.controls.move([0, 1, 1])
        sound.render(&synthesizer, seconds: 0.3)
        let (shut, open) = (Sound(sound, 0.1..<0.3), Sound(sound, 0.4..<0.6))
        #expect(shut.amplitude(at: 2200) < 0.003)
        #expect(open.amplitude(at: 2200) > 4 * shut.amplitude(at: 2200))
        synthesizer.controls.move([0, 0, -1])
        sound.render(&synthesizer, seconds: 0.3)
        #expect(sound.from(0.8).isSilent)
    }

    @Test("a fader that jumps from end to end makes no click", arguments: Synth.faders.map { Int($0.element.id) })
    func smoothing(id: Int) throws {
        let parameter = try #require(Parameter(rawValue: id))
        // A saw is all corners by itself.
        guard parameter != .waveform else { return }
        let range = try #require(Synth.faders.first { Int($0.element.id) == id }?.element.range)
        var synthesizer = makePureTone()
        var sound = Sound()
        try synthesizer.controls.play([69, 1])
        sound.render(&synthesizer, seconds: 0.1)
        for turn in 0..<10 {
            synthesizer.controls.set(parameter, to: Float(turn % 2 == 0 ? range.upperBound : range.lowerBound))
            sound.render(&synthesizer, seconds: 0.05)
        }
        #expect(sound.greatestCorner < 0.01, "\(parameter): \(sound.greatestCorner)")
    }

    @Test("a hand that jumps makes no click")
    func hand() throws {
        var synthesizer = makePureTone()
        var sound = Sound()
        try synthesizer.controls.play([69, 1])
        for turn in 0..<20 {
            synthesizer.controls.move(turn % 2 == 0 ? [1, 1, -1] : [-1, -1, 1])
            sound.render(&synthesizer, seconds: 0.03)
        }
        #expect(sound.greatestCorner < 0.01, "\(sound.greatestCorner)")
    }

    @Test("keys that come, go and take each other's voices make no click")
    func keys() throws {
        var synthesizer = makePureTone()
        var sound = Sound()
        var generator = Seeded(1)
        for turn in 0..<200 {
            let key = Float(Int.random(in: 50...74, using: &generator))
            try synthesizer.controls.play([key, turn % 3 == 2 ? 0 : .random(in: 0.1...1, using: &generator)])
            if turn % 40 == 39 { synthesizer.controls.releaseAll() }
            sound.render(&synthesizer, seconds: 0.02)
        }
        #expect(sound.greatestCorner < 0.02, "\(sound.greatestCorner)")
    }

    @Test("the ninth key takes the oldest one's voice; one that was let go goes first; the same key takes its own")
    func voices() throws {
        let keys: [Float] = [45, 48, 52, 55, 59, 62, 66, 69, 73, 76]
        var synthesizer = makePureTone()
        let controls = synthesizer.controls
        var sound = Sound()
        for key in keys.prefix(8) { try controls.play([key, 1]) }
        try controls.play([keys[7], 1])
        sound.render(&synthesizer, seconds: 0.1)
        #expect(controls.voices == 8)
        try controls.play([keys[3], 0])
        try controls.play([keys[8], 1])
        try controls.play([keys[9], 1])
        sound.render(&synthesizer, seconds: 0.5)
        #expect(controls.voices == 8)
        let heard = sound.from(0.2)
        let sounding = keys.filter { heard.amplitude(at: frequency($0)) > 0.01 }
        #expect(sounding == keys.filter { $0 != keys[0] && $0 != keys[3] })
        for key in keys { try controls.play([key, 0]) }
        sound.render(&synthesizer, seconds: 0.3)
        #expect(controls.voices == 0)
        #expect(sound.from(0.8).isSilent)
    }

    @Test("what is no number changes nothing, and what is out of range is bounded")
    func hostileValues() throws {
        var synthesizer = makePureTone()
        let controls = synthesizer.controls
        var sound = Sound()
        try controls.play([69, 1])
        sound.render(&synthesizer, seconds: 0.1)
        controls.move([.nan, .nan, .nan])
        for (element, _) in Synth.faders { controls.set(try #require(Parameter(rawValue: Int(element.id))), to: .nan) }
        sound.render(&synthesizer, seconds: 0.2)
        #expect(abs(sound.from(0.1).frequency - 440) < 0.5)
        for value in [Float.infinity, -.infinity, .greatestFiniteMagnitude, -.leastNonzeroMagnitude] {
            controls.move([value, -value, value])
            for (element, _) in Synth.faders {
                controls.set(try #require(Parameter(rawValue: Int(element.id))), to: value)
            }
            sound.render(&synthesizer, seconds: 0.2)
            #expect(sound.isSound)
        }
        for note: Vector2 in [[.nan, 1], [69, .nan], [-1, 1], [128, 1], [69, 1.1], [69, -0.1], [.infinity, 1]] {
            #expect(throws: ValueRefusal.self) { try controls.play(note) }
        }
    }

    @Test("more keys than there is room for are refused, and none of them sounds for ever")
    func tooManyKeys() throws {
        var synthesizer = makePureTone()
        let controls = synthesizer.controls
        var sound = Sound()
        for key in 0..<Controls.noteCapacity { try controls.play([Float(key % 128), 1]) }
        #expect(throws: ValueRefusal.self) { try controls.play([69, 1]) }
        sound.render(&synthesizer, seconds: 0.1)
        #expect(controls.voices == 0)
        #expect(sound.isSilent)
        try controls.play([69, 1])
        sound.render(&synthesizer, seconds: 0.1)
        #expect(controls.voices == 1)
    }

    @Test("nothing is allocated or freed while it sounds, also when another thread plays", .timeLimit(.minutes(5)))
    func allocation() async throws {
        var synthesizer = Synthesizer(sampleRate: 48000)
        let controls = synthesizer.controls
        let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: 2 * Sound.period)
        defer { buffer.deallocate() }
        allocation_watch_begin()
        let array = [Int](repeating: 1, count: buffer.count)
        // Under a sanitizer nothing is counted.
        guard allocation_watch_end() >= 0 else { return }
        #expect(allocation_watch_end() > 0, "an array of \(array.count) was not counted")

        let isOver = Flag()
        let player = Thread {
            var turn = 0
            var generator = Seeded(2)
            while !isOver.value.load(ordering: .relaxed) {
                // What is refused does not matter here.
                try? controls.play([Float(40 + turn % 40), turn % 3 == 0 ? 0 : 0.8])
                for (element, _) in Synth.faders {
                    guard let parameter = Parameter(rawValue: Int(element.id)) else { continue }
                    controls.set(parameter, to: .random(in: 0...100, using: &generator))
                }
                controls.move([.random(in: -1...1, using: &generator), .random(in: -1...1, using: &generator), 1])
                turn += 1
            }
        }
        player.start()
        var (most, count, rounds) = (0, 0, 0)
        // The player's thread may start late.
        while rounds < 1500 || most < Synthesizer.voiceCount {
            allocation_watch_begin()
            synthesizer.render(into: buffer)
            count += allocation_watch_end()
            most = max(most, controls.voices)
            rounds += 1
        }
        isOver.value.store(true, ordering: .relaxed)
        #expect(count == 0)
    }
}

/// Random numbers that are the same in each run: SplitMix64.
private struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

private final class Flag: Sendable {
    let value = Atomic(false)
}
