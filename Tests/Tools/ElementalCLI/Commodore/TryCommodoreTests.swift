import Foundation
import TestSupport
import Testing

/// `elemental c64 gateway --virtual` for users without a Commodore: what Samples/try-commodore does, without
/// Zeroconf.
@Suite(.enabled(if: CommodoreProgram.isAvailable))
struct TryCommodoreTests {
    @Test
    func theVirtualCommodoreIsADevice() async throws {
        try await withFolder { try await run(in: $0) }
    }

    private func run(in folder: String) async throws {
        let (program, svg) = (folder + "/commodore.prg", folder + "/screen.svg")
        try Data(try await CommodoreProgram.prg).write(to: URL(filePath: program))
        let arguments = [
            "c64", "gateway", "--virtual", program, "--unlisted", "--address", "127.0.0.1", "--json", "--svg",
            svg,
        ]
        try await withCommand(arguments) { gateway in
            let target = "127.0.0.1:\(try await gateway.listeningPort())"
            try await gateway.nextEvent("program") { $0["name"] == "commodore" && $0["connected"] == true }
            try await withCommand(["watch", target, "line", "jiffies", "--json"]) { watch in
                _ = try await ElementalProcess.run("set", target, "border=6", "print=Hello, Commodore!")
                try gateway.writeLine("hello, network")
                var place = try await watch.nextEvent("value") {
                    $0["element"] == "line" && $0["value"] == "hello, network"
                }.place
                // Its clock arrives each second: by then its screen shows everything.
                for _ in 0..<2 {
                    place = try await watch.nextEvent("value", after: place) { $0["element"] == "jiffies" }.place
                }
            }
            gateway.send(signal: SIGTERM)
            let screen = try await gateway.nextEvent("screen")
            #expect(screen["border"] == "blue")
            let rows: [String]? = screen["rows"]
            #expect(rows?[1].hasPrefix("Line connected") == true && rows?[3].hasPrefix("Border  6") == true)
            // Whichever was first.
            #expect(Set(rows?[11...12] ?? []) == ["Hello, Commodore!", "hello, network"])
            try await gateway.expectExit()
        }
        #expect(try String(contentsOfFile: svg, encoding: .utf8).hasPrefix("<svg "))
    }

    @Test
    func picturesNeedAMachineWhoseScreenIsKnown() throws {
        try Mistake.expect(in: ["c64", "gateway", "--pty", "--png", "x.png"])
    }
}
