import Elemental
import Foundation

/// A melody of eight seconds over four chords, and how the hand moves meanwhile.
struct Score {
    /// A key at a time in seconds; a velocity of 0 lets it go.
    struct Event {
        let time: Double
        let note: Vector2
    }

    static let duration = 8.0
    /// In the order of time.
    let events: [Event]

    init() {
        var events: [Event] = []
        func add(_ time: Double, _ pitch: Float, _ velocity: Float, length: Double) {
            events.append(Event(time: time, note: [pitch, velocity]))
            events.append(Event(time: time + length, note: [pitch, 0]))
        }
        // A minor, F, C and G: their keys as MIDI note numbers, and a melody above.
        let chords: [[Float]] = [[57, 60, 64], [53, 57, 60], [55, 60, 64], [55, 59, 62]]
        let melody: [[Float]] = [[76, 72, 69, 72], [77, 76, 72, 69], [79, 76, 72, 76], [74, 71, 74, 79]]
        for (bar, chord) in chords.enumerated() {
            let start = 2 * Double(bar)
            add(start, chord[0] - 12, 0.9, length: 1.9)
            for eighth in 0..<8 {
                add(start + Double(eighth) / 4, chord[eighth % 3], eighth % 4 == 0 ? 0.7 : 0.5, length: 0.2)
            }
            for (beat, pitch) in melody[bar].enumerated() {
                add(start + Double(beat) / 2, pitch, 0.8, length: 0.45)
            }
        }
        self.events = events.sorted { $0.time < $1.time }
    }

    /// The hand's position: it sweeps the filter open and shut in four seconds, and from side to side meanwhile.
    func motion(at time: Double) -> Vector3 {
        let turn = 2 * .pi * time / 4
        return [Float(0.5 * sin(turn)), Float(-cos(turn)), 0.8]
    }
}
