import TestSupport
import Testing

@testable import ElementalCLI
@testable import VirtualCommodore

/// The cable between a virtual Commodore and a gateway.
struct ModemLinkTests {
    @Test("a gateway that reads nothing loses the connection, and what is kept for it is bounded")
    func unreadBytes() async throws {
        let (listener, port) = try RawSocket.listen(receiveBuffer: 4096)
        var reasons: [String] = []
        let link = ModemLink(try await ModemLink.resolve(HostPort(host: "127.0.0.1", port: port))) { event in
            if case .lost(let reason, _) = event { reasons.append(reason) }
        }
        let machine = Commodore64()
        let chunk = [UInt8](repeating: 65, count: 16 * 1024)
        var largest = 0
        for _ in 0..<2000 where reasons.isEmpty {
            machine.line.outgoing.append(chunk)
            link.exchange(with: machine)
            largest = max(largest, link.unsent.count)
        }
        #expect(reasons == ["the gateway stopped reading"])
        #expect(largest <= ModemLink.maximumUnsent)
        withExtendedLifetime(listener) {}
    }
}
