import ArgumentParser
import Elemental
import ElementalRecording
import Foundation
import RobotElements

@main
struct RobotPlot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RobotPlot",
        abstract: "Draws the paths of recorded robots, and their batteries, as an SVG.",
        discussion: "'elemental record robot --to drive.mcap' records a robot.")

    @Argument(
        help: ArgumentHelp("Recordings; one may have a label as in 'bad link=drive.mcap'.", valueName: "recording"))
    var recordings: [String]

    @Option(help: "Where the drawing goes.")
    var to: String

    func run() async throws {
        var drives: [Drive] = []
        for text in recordings {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            drives.append(try await Drive(path: parts.last ?? text, label: parts.count > 1 ? parts[0] : text))
        }
        for drive in drives { print(drive) }
        try Data(Drawing(drives).text.utf8).write(to: URL(filePath: to))
        print("drawn: \(to)")
    }
}

/// What a recording says of one drive.
struct Drive: CustomStringConvertible {
    let label: String
    /// Seconds since the recording's beginning, and where the robot was.
    private(set) var poses: [(time: Double, pose: Pose)] = []
    private(set) var battery: [(time: Double, percent: Double)] = []
    /// How late the control loop was at worst in each second, in milliseconds.
    private(set) var delays: [Double] = []
    private(set) var pictureCount = 0
    /// How often the robot stopped because nobody steered.
    private(set) var stopCount = 0

    init(path: String, label: String) async throws {
        self.label = label
        let recording = try await Recording(path: path)
        for try await item in recording.items {
            guard case .value(let value) = item.content else { continue }
            let time = item.time / .seconds(1)
            switch value.element.id {
            case Robot.pose.id: JSON<Pose>(value.value).map { poses.append((time, $0.value)) }
            case Robot.battery.id: Float(value.value).map { battery.append((time, Double($0))) }
            case Robot.loopDelay.id: Float(value.value).map { delays.append(Double($0)) }
            case Robot.isDriven.id: if Bool(value.value) == false { stopCount += 1 }
            case Robot.camera.id: pictureCount += 1
            default: break
            }
        }
        guard poses.count > 1 else { throw ValidationError("\(path) has no poses of a robot") }
    }

    /// The way in metres.
    var length: Double {
        zip(poses, poses.dropFirst()).reduce(0) { $0 + hypot($1.1.pose.x - $1.0.pose.x, $1.1.pose.y - $1.0.pose.y) }
    }

    var description: String {
        let seconds = (poses.last?.time ?? 0) - poses[0].time
        return label
            + String(
                format:
                    ": %.2f m; %d poses and %d pictures in %.1f s; stops: %d; control loop at worst %.1f ms late",
                length, poses.count, pictureCount, seconds, stopCount, delays.max() ?? 0)
    }
}
