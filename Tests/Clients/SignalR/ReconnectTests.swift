import Support
import TestSupport
import Testing

@testable import SignalR

/// Automatic reconnection, and resumed connections.
struct ReconnectTests {
    @Test
    func theReadyMadePolicies() {
        func delays(_ policy: some ReconnectionPolicy) -> [Duration?] {
            (1...5).map {
                policy.delay(before: ReconnectionAttempt(number: $0, elapsed: .zero, reason: nil, lastError: nil))
            }
        }
        #expect(delays(.standard) == [.zero, .seconds(2), .seconds(10), .seconds(30), nil])
        #expect(delays(.forever(every: .seconds(3))) == [.zero] + Array(repeating: .seconds(3), count: 4))
        let growing = delays(.exponential(maximum: .seconds(5), jitter: 0))
        #expect(growing == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
    }

    @Test
    func aLostConnectionIsReestablished() async throws {
        try await withHub({ $0.withAutoReconnect() }) { connection, hub, server in
            let events = record(connection)
            async let call = signalRError { try await connection.invoke("A") }
            _ = try await hub.message()
            hub.closeOutput()
            #expect(await call?.code == .connectionLost)
            try await server.negotiate(token: "second")
            let second = try await server.accept()
            #expect(try await second.upgrade().target == "/hub?id=second")
            #expect(connection.state == .reconnecting)
            #expect(await signalRError { try await connection.invoke("B") }?.code == .reconnecting)
            #expect(await signalRError { try await connection.start() }?.code == .alreadyStarted)
            try await second.performHandshake()
            for expected in ["will reconnect: connectionLost", "did reconnect"] {
                #expect(try await events.next() == expected)
            }
            async let answer: Int = connection.invoke("C")
            _ = try await second.message()
            try second.say(#"{"type":3,"invocationId":"1","result":3}"#)
            #expect(try await answer == 3)
            second.closeOutput()
            let third = try await server.negotiatedHub()
            #expect(try await events.next() == "will reconnect: connectionLost")
            #expect(try await events.next() == "did reconnect")
            third.closeOutput()
            await connection.stop()
        }
    }

    @Test
    func whenAttemptsAreUsedUpItIsClosedWithTheOriginalError() async throws {
        try await withHub({ $0.withAutoReconnect(delays: [.zero, .milliseconds(1), .milliseconds(2)]) }) {
            connection, hub, server in
            let events = record(connection)
            try hub.say(#"{"type":7,"error":"restarting","allowReconnect":true}"#)
            for _ in 0..<3 { try await server.answer("", status: "503 Not Now") }
            #expect(try await events.next() == "will reconnect: closedByServer")
            #expect(try await events.next() == "closed: closedByServer")
            #expect(connection.state == .disconnected)
        }
    }

    @Test
    func aCloseWithoutReconnectionIsFinal() async throws {
        try await withHub({ $0.withAutoReconnect() }) { connection, hub, _ in
            let events = record(connection)
            try hub.say(#"{"type":7,"error":"go away"}"#)
            #expect(try await events.next() == "closed: closedByServer")
        }
    }

    @Test
    func aPolicyOfOnesOwn() async throws {
        struct Policy: ReconnectionPolicy {
            let attempts: Transcript<ReconnectionAttempt>
            func delay(before attempt: ReconnectionAttempt) -> Duration? {
                attempts.add(attempt)
                return attempt.number <= 2 ? .milliseconds(1) : nil
            }
        }
        let attempts = Transcript<ReconnectionAttempt>()
        try await withHub({ $0.withAutoReconnect(Policy(attempts: attempts)) }) { connection, hub, server in
            let events = record(connection)
            hub.closeOutput()
            for _ in 0..<2 { try await server.answer("", status: "503 Not Now") }
            #expect(try await events.next() == "will reconnect: connectionLost")
            #expect(try await events.next() == "closed: connectionLost")
            #expect(attempts.all.map(\.number) == [1, 2, 3])
            #expect(attempts.all.allSatisfy { $0.reason?.code == .connectionLost })
            #expect(attempts.all.map(\.lastError?.code) == [nil, .refused, .refused])
            let times = attempts.all.map(\.elapsed)
            #expect(times == times.sorted() && times.allSatisfy { $0 >= .zero })
        }
    }

    @Test
    func stoppingWhileItReconnects() async throws {
        // While it waits, and while it connects.
        for interval in [Duration.seconds(600), .zero] {
            try await withHub({ $0.withAutoReconnect(delays: [interval]) }) { connection, hub, server in
                let events = record(connection)
                hub.closeOutput()
                #expect(try await events.next() == "will reconnect: connectionLost")
                // Held, or its end would end the attempt.
                let peer = interval == .zero ? try await server.accept() : nil
                _ = try await peer?.request()
                await connection.stop()
                withExtendedLifetime(peer) {}
                #expect(try await events.next() == "closed: -")
                #expect(connection.state == .disconnected)
            }
        }
    }
}
