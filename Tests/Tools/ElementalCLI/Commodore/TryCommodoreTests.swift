import Foundation
import TestSupport
import Testing

/// `elemental c64 gateway --virtual` for users without a Commodore: what Samples/try-commodore does, without
/// Zeroconf.
@Suite(.enabled(if: CommodoreProgram.isAvailable))
struct TryCommodoreTests {
    @Test
    func theVirtualCommodoreIsADevice() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "try-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appending(path: "commodore.prg")
        let svg = folder.appending(path: "screen.svg")
        try Data(try await CommodoreProgram.prg).write(to: program)
        let arguments = [
            "c64", "gateway", "--virtual", program.path, "--unlisted", "--address", "127.0.0.1", "--json", "--svg",
            svg.path,
        ]
        try await ChildProcess.with(ElementalProcess.path, arguments) { gateway in
            let target = "127.0.0.1:\(try await gateway.listeningPort())"
            try await gateway.nextEvent("program") { $0["name"] == "commodore" && $0["connected"] == true }
            try await ChildProcess.with(ElementalProcess.path, ["watch", target, "line", "jiffies", "--json"]) {
                watch in
                _ = try await ElementalProcess.run("set", target, "border=6", "print=Hello, Commodore!")
                try gateway.writeLine("hello, network")
                try await watch.nextEvent("value") { $0["element"] == "line" && $0["value"] == "hello, network" }
                // Its clock arrives each second: by then its screen shows everything.
                for _ in 0..<2 { try await watch.nextEvent("value") { $0["element"] == "jiffies" } }
            }
            gateway.send(signal: SIGTERM)
            let screen = try await gateway.nextEvent("screen")
            #expect(screen["border"] == "blue")
            let rows: [String]? = screen["rows"]
            #expect(rows?[1].hasPrefix("Line connected") == true && rows?[3].hasPrefix("Border  6") == true)
            // Whichever was first.
            #expect(Set(rows?[11...12] ?? []) == ["Hello, Commodore!", "hello, network"])
            let exit = try await gateway.waitForExit()
            #expect(exit == .exited(0))
        }
        #expect(try String(contentsOf: svg, encoding: .utf8).hasPrefix("<svg "))
    }

    @Test
    func picturesNeedAMachineWhoseScreenIsKnown() async throws {
        let result = try await ElementalProcess.run("c64", "gateway", "--pty", "--png", "x.png")
        #expect(result.status == .exited(64))
    }
}
