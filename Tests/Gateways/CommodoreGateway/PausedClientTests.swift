import Elemental
import Support
import TestSupport
import Testing

@testable import CommodoreGateway

struct PausedClientTests {
    @Test
    func aClientThatSendsMuchMoreIsPausedUntilItIsSent() async throws {
        try await withGateway(.loopback) { running in
            let machine = try RawSocket.connect(to: try running.linePort)
            try await machine.connect("slow")
            let client = try await running.client("much")
            let other = try await running.client("little")
            // One value of any size is queued, and what follows it is read.
            try client.send(String(repeating: "x", count: 200_000), to: CommodoreElements.print)
            _ = try await client.ping(timeout: Patience.wait)
            // The next one is queued as well, and what is behind that waits, but for what was read along with it.
            try client.send("y", to: CommodoreElements.print)
            try await eventually("a ping that is not answered") {
                do throws(ElementalError) {
                    // A busy machine answers later than at once.
                    _ = try await client.ping(timeout: .seconds(5))
                    return false
                } catch {
                    return error.code == .timedOut
                }
            }
            // Other clients do not wait for it, and they do not make it go on.
            let isAnswered = Locked(false)
            async let answer: Void = {
                _ = try await client.ping(timeout: Patience.wait)
                isAnswered.withLock { $0 = true }
            }()
            try other.send("z", to: CommodoreElements.print)
            for _ in 0..<20 { _ = try await other.ping(timeout: Patience.wait) }
            #expect(!isAnswered.withLock { $0 })
            // The queue is dropped with the line.
            machine.closeOutput()
            try await answer
            await client.close()
            await other.close()
        }
    }
}
