import NIOCore
import Support
import TestSupport
import Testing

@testable import SignalR

/// Signs of life of both ends.
struct KeepAliveTests {
    @Test
    func keepAlivesAreSent() async throws {
        try await withHub({ $0.withOptions { $0.keepAliveInterval = .milliseconds(20) } }) { _, hub, _ in
            for _ in 0..<3 {
                let frame = try await hub.frame()
                #expect(frame.text == "{\"type\":6}\u{1e}")
            }
        }
    }

    /// The clock stands still but for what the test adds to it.
    @Test
    func aSilentServerIsLost() async throws {
        let (now, looks) = (Locked(NIODeadline.uptimeNanoseconds(0)), Locked(0))
        let limit = TimeAmount.milliseconds(20)
        try await withHub({
            $0.withOptions {
                $0.serverTimeout = Duration(limit)
                $0.keepAliveInterval = .seconds(3600)
                $0.now = {
                    looks.withLock { $0 += 1 }
                    return now.withLock { $0 }
                }
            }
        }) { connection, hub, _ in
            let events = record(connection)
            func passTime() async throws {
                now.withLock { $0 = $0 + limit - TimeAmount.milliseconds(1) }
                // It looks at the clock again and again.
                let before = looks.withLock { $0 }
                try await eventually("it looks") { looks.withLock { $0 } > before + 5 || !events.all.isEmpty }
            }
            for number in 1...3 {
                try await passTime()
                #expect(events.all == [])
                // Whatever comes is a sign of the server.
                async let answer: Int = connection.invoke("X")
                _ = try await hub.message()
                try hub.say(#"{"type":3,"invocationId":"\#(number)","result":0}"#)
                _ = try await answer
            }
            try await passTime()
            #expect(events.all == [])
            now.withLock { $0 = $0 + TimeAmount.milliseconds(1) }
            #expect(try await events.next() == "closed: serverTimeout")
        }
    }
}
