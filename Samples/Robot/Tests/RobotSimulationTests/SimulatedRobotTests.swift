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
        #expect(robot.pose.x < 0.3)
        #expect(!robot.isDriven)
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
