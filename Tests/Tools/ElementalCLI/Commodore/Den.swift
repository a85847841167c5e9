import TestSupport
import Testing

/// A process of `elemental c64 gateway` on loopback, unlisted and with JSON.
enum Den {
    /// A program at $C000, as a file: it makes the border green and prints each typed key.
    static let echo: [UInt8] = [
        0x00, 0xC0, 0xA9, 0x05, 0x8D, 0x20, 0xD0, 0x20, 0xE4, 0xFF, 0xF0, 0xFB, 0x20, 0xD2, 0xFF, 0x4C, 0x05, 0xC0,
    ]
    /// 10 SYS 2061, as a file; at 2061 a jump to itself, which reads no keys.
    static let loop: [UInt8] = [1, 8, 0x0B, 8, 10, 0, 0x9E, 0x32, 0x30, 0x36, 0x31, 0, 0, 0, 0x4C, 0x0D, 8]

    static func with(
        _ line: [String], _ body: (_ gateway: ChildProcess, _ line: String, _ target: String) async throws -> Void
    ) async throws {
        let gateway = ["c64", "gateway", "--unlisted", "--address", "127.0.0.1", "--name", "Den", "--json"]
        try await withCommand(gateway + line) { gateway in
            // The line and the service become ready in either order.
            let ready = try await gateway.nextEvent("line") { $0["state"] == "ready" }
            let port = try await gateway.listeningPort()
            try await body(gateway, try #require(ready["line"]), "127.0.0.1:\(port)")
        }
    }
}
