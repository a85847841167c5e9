import Elemental
import Foundation
import RobotElements
import Synchronization

/// The robot's values, collected on the connection's event loop and printed by the driver.
final class Report: Sendable {
    private struct Contents {
        var pose: Pose?
        var poseTime = SuspendingClock.now
        var poseCount = 0
        var path = 0.0
        var battery: Float?
    }

    private let contents = Mutex(Contents())

    var battery: Float? {
        get { contents.withLock { $0.battery } }
        set { contents.withLock { $0.battery = newValue } }
    }

    /// The newest pose, and how long ago it came.
    var pose: (Pose, age: Duration)? {
        contents.withLock { contents in contents.pose.map { ($0, SuspendingClock.now - contents.poseTime) } }
    }

    func add(_ pose: Pose) {
        contents.withLock { contents in
            if let last = contents.pose {
                // One that was overtaken on its way; of a robot that was switched on again all are news.
                guard pose.time > last.time || pose.time < last.time - 1 else { return }
                contents.path += hypot(pose.x - last.x, pose.y - last.y)
            }
            contents.pose = pose
            contents.poseTime = .now
            contents.poseCount += 1
        }
    }

    func printPose() {
        let (pose, battery) = contents.withLock { ($0.pose, $0.battery) }
        guard let pose, let battery else { return Swift.print("nothing has come yet") }
        Swift.print(
            String(
                format: "x %6.2f m   y %6.2f m   heading %4.0f°   battery %5.1f %%", pose.x, pose.y,
                pose.heading * 180 / .pi, battery))
        fflush(nil)
    }

    func print(motionsSent: Int, statistics: DeviceStatistics) {
        printPose()
        let (count, path) = contents.withLock { ($0.poseCount, $0.path) }
        Swift.print(
            String(format: "sent %d motions, got %d poses; the robot went %.2f m", motionsSent, count, path))
        Swift.print(
            "sent \(statistics.bytesSent) bytes, got \(statistics.bytesReceived) bytes, "
                + "\(statistics.datagramsDropped) datagrams dropped, \(statistics.messagesMalformed) values malformed")
    }
}
