import Elemental
import TestSupport
import Testing

@testable import CommodoreGateway

/// Clients that send faster than a slow line.
struct PausedClientTests {
    @Test
    func aClientThatSendsMuchMoreIsPausedUntilItIsSent() async throws {
        try await withGateway(.tcp(host: "127.0.0.1", port: 0, usesIP232: false)) { running in
            let machine = try RawSocket.connect(to: try running.linePort)
            try await machine.connect("slow")
            let client = try await running.client("much")
            let other = try await running.client("little")
            // One value of any size is queued, and what follows it is read.
            try client.send(String(repeating: "x", count: 200_000), to: CommodoreElements.print)
            _ = try await client.ping(timeout: .seconds(20))
            // The next one is queued as well, and what is behind that waits, but for what was read along with it.
            try client.send("y", to: CommodoreElements.print)
            _ = try? await client.ping(timeout: .seconds(1))
            // Other clients do not wait for it. Once one is answered, all of the above has been read, on a busy machine too.
            try other.send("z", to: CommodoreElements.print)
            _ = try await other.ping(timeout: .seconds(20))
            let error = await #expect(throws: ElementalError.self) { try await client.ping(timeout: .seconds(1)) }
            #expect(error?.code == .timedOut)
            // The queue is dropped with the line.
            machine.closeOutput()
            _ = try await client.ping(timeout: .seconds(20))
            await client.close()
            await other.close()
        }
    }
}
