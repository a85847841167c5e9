import ArgumentParser
import Elemental
import Foundation

/// What to drive.
enum Figure: String, CaseIterable, ExpressibleByArgument {
    case circle, eight, square, course

    /// How long a figure takes in seconds, and how long the course may take.
    var period: Double {
        switch self {
        case .course: 60
        case .circle: .pi
        case .eight: 2 * .pi
        case .square: 8
        }
    }

    /// The stick's position after `seconds`: forward, to the left, turning to the left; `nil` if it depends on where the
    /// robot is.
    func motion(at seconds: Double) -> Vector3? {
        let time = seconds.truncatingRemainder(dividingBy: period)
        return switch self {
        case .course: nil
        case .circle: [1, 0, 1]
        case .eight: [1, 0, time < .pi ? 1 : -1]
        // Without turning: to the front, to the left, back, to the right.
        case .square: [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]][min(Int(time / 2), 3)]
        }
    }
}
