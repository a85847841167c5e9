import Foundation
import RobotElements
import RobotSimulation
import Testing

@Suite struct SimulatedRobotTests {
    @Test func drivesStraight() {
        var robot = SimulatedRobot()
        robot.speed = 1
        for _ in 0..<100 {
            robot.steer([1, 0, 0])
            robot.advance(seconds: 0.01)
        }
        #expect(abs(robot.pose.x - 1) < 1e-6)
        #expect(robot.pose.y == 0)
        #expect(robot.battery < 100)
    }

    @Test func aCircleCloses() {
        var robot = SimulatedRobot()
        // Two radians per second: a full turn takes π seconds.
        for _ in 0..<314 {
            robot.steer([1, 0, 1])
            robot.advance(seconds: 0.01)
        }
        #expect(abs(robot.pose.x) < 0.01)
        #expect(abs(robot.pose.y) < 0.01)
    }

    @Test func stopsWhenTheDriverIsSilent() {
        var robot = SimulatedRobot()
        robot.steer([1, 0, 0])
        for _ in 0..<100 { robot.advance(seconds: 0.1) }
        // It takes 0.1 s steps: two of them until it notices.
        #expect(robot.pose.x < 0.11)
        #expect(!robot.isDriven)
    }

    @Test func theCameraSeesTheGateAhead() throws {
        var robot = SimulatedRobot()
        func colours() -> Set<UInt8> {
            let picture = Camera.picture(at: robot.pose)
            #expect(picture.starts(with: Data("BM".utf8)) && picture.count == 82 + Camera.width * Camera.height)
            return Set(picture.dropFirst(82))
        }
        let ahead = colours()
        #expect(ahead.isSuperset(of: [0, 1, 2, 3]))
        // Half a turn to the left: the first gate, of colour 3, is behind.
        for _ in 0..<157 {
            robot.steer([0, 0, 1])
            robot.advance(seconds: 0.01)
        }
        #expect(colours().isDisjoint(with: [3]) || robot.pose.heading < 3)
        // Far away and in the middle of a gate there are pictures, too.
        for place in [(1e9, -1e9), (Course.gates[0].x, Course.gates[0].y), (.nan, .infinity)] {
            #expect(Camera.picture(at: Pose(time: 0, x: place.0, y: place.1, heading: 0)).count == 82 + 160 * 120)
        }
    }

    @Test func emergencyStop() {
        var robot = SimulatedRobot()
        robot.isStopped = true
        robot.steer([1, 0, 0])
        robot.advance(seconds: 0.1)
        #expect(robot.pose.x == 0)
    }

    @Test func nonsenseFromTheStick() {
        var robot = SimulatedRobot()
        robot.steer([.nan, .infinity, -1000])
        robot.advance(seconds: 0.1)
        #expect(robot.pose.x.isFinite && robot.pose.y.isFinite)
        #expect(abs(robot.pose.heading) <= 0.2 + 1e-9)
    }
}
