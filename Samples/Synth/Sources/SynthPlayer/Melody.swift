import Elemental
import Foundation
import SynthElements

/// Four chords in eight seconds with a melody above, while the hand opens the filter and shuts it.
enum Melody {
    /// What is sent so many seconds after the start.
    typealias Message = (time: Double, send: @Sendable (ElementalDevice) throws -> Void)

    // A minor, F, C and G, as MIDI note numbers, and what is sung above each.
    private static let chords: [[Float]] = [[57, 60, 64], [53, 57, 60], [55, 60, 64], [55, 59, 62]]
    private static let song: [[Float]] = [[76, 72, 69, 72], [77, 76, 72, 69], [79, 76, 72, 76], [74, 71, 74, 79]]

    /// In the order of time.
    static func messages(count: Int) -> [Message] {
        var messages: [Message] = []
        for bar in 0..<4 * count {
            func add(_ time: Double, _ pitch: Float, _ velocity: Float, length: Double) {
                let start = 2 * Double(bar) + time
                messages.append((start, { synth in try synth.send(Vector2(pitch, velocity), to: Synth.note) }))
                messages.append((start + length, { synth in try synth.send(Vector2(pitch, 0), to: Synth.note) }))
            }
            let chord = chords[bar % 4]
            add(0, chord[0] - 12, 0.9, length: 1.9)
            for (beat, pitch) in song[bar % 4].enumerated() { add(Double(beat) / 2, pitch, 0.8, length: 0.45) }
            for eighth in 0..<8 { add(Double(eighth) / 4, chord[eighth % 3], 0.6, length: 0.2) }
        }
        for frame in 0..<120 * 8 * count {
            let turn = 2 * Float.pi * Float(frame % 480) / 480
            let motion = Vector3(0.5 * sin(turn), -cos(turn), 0.8)
            messages.append((Double(frame) / 120, { synth in try synth.send(motion, to: Synth.motion) }))
        }
        return messages.sorted { $0.time < $1.time }
    }
}
