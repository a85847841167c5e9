import NIOCore
import Support
import Testing

@testable import MQTT

/// When a client tries again, and when its connection is read, without sockets.
struct ReconnectionTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let error = MQTTError(.connectionLost, "lost")

    private func at(_ seconds: Int64) -> NIODeadline { Self.start + .seconds(seconds) }

    @Test
    func numbersCountFromTheLoss() {
        var retries = Retries(policy: ListedDelays([.zero, .seconds(2), .seconds(10)]))
        for _ in 0..<2 {
            retries.connected(at: at(0))
            retries.lost(at: at(60))
            expect(retries.next(after: error, now: at(60))?.number, 1)
            let second = retries.next(after: error, now: at(60))
            #expect(second?.number == 2 && second?.delay == .seconds(2))
            expect(retries.next(after: error, now: at(62))?.delay, .seconds(10))
            expect(retries.next(after: error, now: at(72)) == nil)
        }
    }

    @Test
    func whatThePolicyIsTold() {
        final class Asked: Sendable {
            let attempts = Locked<[ReconnectionAttempt]>([])
        }
        struct Policy: ReconnectionPolicy {
            let asked: Asked
            func delay(before attempt: ReconnectionAttempt) -> Duration? {
                asked.attempts.withLock { $0.append(attempt) }
                return .seconds(-1)
            }
        }
        let asked = Asked()
        var retries = Retries(policy: Policy(asked: asked))
        let first = retries.next(after: error, now: at(0))
        #expect(first?.delay == .zero, "a delay below zero counts as zero")
        _ = retries.next(after: MQTTError(.timedOut, "late"), now: at(3))
        let attempts = asked.attempts.withLock { $0 }
        #expect(attempts.map(\.number) == [1, 2])
        #expect(attempts.map(\.reason.code) == [.connectionLost, .connectionLost])
        #expect(attempts.map(\.lastError?.code) == [nil, .timedOut])
        #expect(attempts.map(\.elapsed) == [.zero, .seconds(3)])
    }

    /// Two clients with one identifier take the session from each other.
    @Test
    func shortConnectionsCountAsFailedAttempts() throws {
        var retries = Retries(policy: EndlessDelays(every: .seconds(1)))
        var delays: [Duration] = []
        for round in Int64(0)..<6 {
            retries.connected(at: at(round * 10))
            retries.lost(at: at(round * 10 + 1))
            let attempt = retries.next(after: error, now: at(round * 10 + 1))
            let next = try #require(attempt)
            #expect(next.number == Int(round) + 1)
            delays.append(next.delay)
        }
        #expect(delays == [.zero, .seconds(1), .seconds(1), .seconds(1), .seconds(2), .seconds(4)])
        // One that lasts ends the row.
        retries.connected(at: at(100))
        retries.lost(at: at(111))
        expect(retries.next(after: error, now: at(111))?.number, 1)
    }

    @Test
    func withoutAPolicy() {
        var retries = Retries(policy: nil)
        expect(retries.next(after: error, now: at(0)) == nil)
    }

    // MARK: - Reading

    @Test
    func manyAcknowledgementsAreReadTogether() {
        var hold = ReadHold()
        expect(hold.read(inFlight: 0), .read)
        expect(hold.read(inFlight: 64), .read)
        expect(hold.read(inFlight: 65), .hold(.milliseconds(5)))
        expect(hold.read(inFlight: 65), .wait)
        expect(hold.pauseEnded(), "what was held back is read")
        expect(!hold.pauseEnded(), "and once")
        expect(hold.read(inFlight: 3), .read)
    }

    @Test
    func aBrokerThatDoesNotReadIsNotRead() {
        var hold = ReadHold()
        for _ in 0..<16_384 { hold.queued(4, isWritable: false) }
        expect(hold.read(inFlight: 0), .read)
        hold.queued(4, isWritable: false)
        expect(hold.read(inFlight: 0), .wait)
        expect(hold.becameWritable())
        expect(hold.read(inFlight: 0), .read)
        for _ in 0..<100_000 { hold.queued(4, isWritable: true) }
        expect(hold.read(inFlight: 0), .read)
    }
}
