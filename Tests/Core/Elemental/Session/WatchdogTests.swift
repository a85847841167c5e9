import NIOCore
import Testing

@testable import Elemental

/// The timeouts of a connection, on a clock of the tests' own.
struct WatchdogTests {
    /// A watchdog and what it has found.
    private final class Guarded {
        let line: EmbeddedSender
        let receiver: Receiver
        let watchdog: Watchdog
        private(set) var findings: [Watchdog.Finding] = []

        init(_ change: (inout DeviceLimits) -> Void = { _ in }) throws {
            line = try EmbeddedSender(change)
            receiver = line.makeReceiver()
            watchdog = Watchdog(line.device, line.sender, receiver)
            watchdog.start { [unowned self] in findings.append($0) }
        }

        func wait(_ seconds: Double) { line.loop.advanceTime(by: .milliseconds(Int64(seconds * 1000))) }

        func takePong(_ bytes: [UInt8]) -> Duration? { bytes.withUnsafeBytes(watchdog.takePong) }
    }

    private static let pong = [UInt8](repeating: 0, count: 8)

    // MARK: The handshake

    @Test
    func aHandshakeHasItsTime() throws {
        let guarded = try Guarded()
        guarded.wait(9.999)
        #expect(guarded.findings.isEmpty)
        guarded.wait(0.001)
        #expect(guarded.findings == [.handshakeTimedOut])
        guarded.wait(1000)
        #expect(guarded.findings == [.handshakeTimedOut])
    }

    @Test
    func aHandshakeThatIsDoneIsNotTimedOut() throws {
        let guarded = try Guarded()
        guarded.wait(9)
        guarded.watchdog.handshakeIsDone()
        guarded.wait(1000)
        #expect(guarded.findings.isEmpty)
    }

    // MARK: Peer liveness

    @Test
    func aSilentPeerIsPingedAndThenTakenForDead() throws {
        let guarded = try Guarded()
        guarded.watchdog.handshakeIsDone()
        #expect(guarded.watchdog.startHeartbeat())
        #expect(!guarded.watchdog.startHeartbeat())
        guarded.wait(19.999)
        #expect(guarded.findings.isEmpty)
        guarded.wait(0.001)
        #expect(guarded.findings == [.needsPing])
        guarded.wait(69.999)
        #expect(guarded.findings == Array(repeating: .needsPing, count: 4))
        guarded.wait(0.001)
        #expect(guarded.findings.last == .silent)
        // It is reported once.
        guarded.wait(1000)
        #expect(guarded.findings.count == 5)
    }

    @Test
    func whatIsHeardPostponesTheEnd() throws {
        let guarded = try Guarded()
        guarded.watchdog.handshakeIsDone()
        #expect(guarded.watchdog.startHeartbeat())
        for _ in 0..<20 {
            guarded.wait(60)
            guarded.receiver.lastBatchTime = guarded.line.loop.now
        }
        #expect(!guarded.findings.contains(.silent))
        guarded.wait(90)
        #expect(guarded.findings.last == .silent)
    }

    @Test
    func thePausedHearNothingAndCountNoSilence() throws {
        let guarded = try Guarded()
        guarded.watchdog.handshakeIsDone()
        guarded.line.device.pause()
        #expect(guarded.watchdog.startHeartbeat())
        guarded.wait(1000)
        #expect(!guarded.findings.contains(.silent))
        guarded.line.device.resume()
        guarded.wait(110)
        #expect(guarded.findings.last == .silent)
    }

    @Test
    func withoutAnIntervalThereIsNoHeartbeat() throws {
        let guarded = try Guarded { $0.heartbeatInterval = nil }
        guarded.watchdog.handshakeIsDone()
        #expect(!guarded.watchdog.startHeartbeat())
        guarded.wait(1000)
        #expect(guarded.findings.isEmpty)
    }

    @Test
    func aPongAnswersOnePing() throws {
        let guarded = try Guarded()
        guarded.watchdog.handshakeIsDone()
        #expect(guarded.watchdog.startHeartbeat())
        #expect(guarded.takePong(Self.pong) == nil)
        guarded.wait(20)
        #expect(guarded.findings == [.needsPing])
        guarded.wait(0.25)
        // Those of the program are numbered from 1.
        #expect(guarded.takePong([1] + Self.pong.dropFirst()) == nil)
        #expect(guarded.takePong(Self.pong + [0]) == nil)
        #expect(guarded.takePong(Self.pong) == .milliseconds(250))
        #expect(guarded.takePong(Self.pong) == nil)
    }

    // MARK: Send progress

    private static func stuck() throws -> Guarded {
        let guarded = try Guarded { $0.stuckTimeout = .seconds(3) }
        guarded.watchdog.handshakeIsDone()
        guarded.line.isHeldBack = true
        guarded.line.queue(Lamp.label.definition, [1])
        guarded.line.sender.flush()
        guarded.watchdog.watchProgress()
        return guarded
    }

    @Test
    func aPeerThatTakesNothingIsStuck() throws {
        let guarded = try Self.stuck()
        guarded.wait(2)
        // A later flush does not begin the time anew.
        guarded.watchdog.watchProgress()
        guarded.wait(0.999)
        #expect(guarded.findings.isEmpty)
        guarded.wait(0.001)
        #expect(guarded.findings == [.stuck])
        // It is reported once.
        guarded.wait(1000)
        #expect(guarded.findings == [.stuck])
    }

    @Test
    func aPeerThatTakesAPartHasItsTimeAnew() throws {
        let guarded = try Self.stuck()
        guarded.line.queue(Lamp.label.definition, [2])
        guarded.wait(2)
        guarded.line.releaseFirst()
        #expect(guarded.line.heldCount == 1)
        guarded.wait(3.999)
        #expect(guarded.findings.isEmpty)
        guarded.wait(0.001)
        #expect(guarded.findings == [.stuck])
    }

    @Test
    func aPeerThatHasTakenAllIsNotStuck() throws {
        let guarded = try Self.stuck()
        guarded.line.isHeldBack = false
        guarded.wait(1000)
        #expect(guarded.findings.isEmpty)
        // The next time counts again.
        guarded.line.isHeldBack = true
        guarded.line.queue(Lamp.label.definition, [2])
        guarded.line.sender.flush()
        guarded.watchdog.watchProgress()
        guarded.wait(3)
        #expect(guarded.findings == [.stuck])
    }

    @Test
    func withoutALimitAPeerMayTakeNothing() throws {
        let guarded = try Guarded()
        guarded.watchdog.handshakeIsDone()
        guarded.line.isHeldBack = true
        guarded.line.queue(Lamp.label.definition, [1])
        guarded.line.sender.flush()
        guarded.watchdog.watchProgress()
        guarded.wait(100_000)
        #expect(guarded.findings.isEmpty)
    }

    // MARK: The end

    @Test
    func nothingIsFoundAfterTheEnd() throws {
        let guarded = try Self.stuck()
        #expect(guarded.watchdog.startHeartbeat())
        guarded.watchdog.stop()
        guarded.wait(1000)
        guarded.watchdog.watchProgress()
        guarded.wait(1000)
        #expect(guarded.findings.isEmpty)
    }

    @Test
    func nothingStartsAfterTheEnd() throws {
        let guarded = try Guarded()
        guarded.watchdog.stop()
        #expect(!guarded.watchdog.startHeartbeat())
        guarded.wait(1000)
        #expect(guarded.findings.isEmpty)
    }

    @Test
    func aFindingMayBeTheEnd() throws {
        let line = try EmbeddedSender()
        let watchdog = Watchdog(line.device, line.sender, line.makeReceiver())
        var count = 0
        watchdog.start { _ in
            count += 1
            watchdog.stop()
        }
        watchdog.handshakeIsDone()
        #expect(watchdog.startHeartbeat())
        line.loop.advanceTime(by: .seconds(1000))
        #expect(count == 1)
    }
}
