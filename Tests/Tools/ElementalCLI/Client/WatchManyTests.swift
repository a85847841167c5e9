import Foundation
import TestSupport
import Testing

/// `elemental watch` of several services.
struct WatchManyTests {
    @Test("values of all services come as they arrive, each named, and a slow one or an absent one holds up none")
    func several() async throws {
        try await Robot.with(["1:Speed:float=0.5"]) { robot, first in
            try await Robot.with(["1:Level:float=0.25", "2:Other:bool=on"]) { lamp, second in
                // It accepts, and says nothing.
                let silent = try RawSocket.listen()
                let nobody = "127.0.0.1:\(try PortLease.port())"
                let arguments =
                    ["watch", first] + [second, nobody, "127.0.0.1:\(silent.port)"].flatMap { ["--also", $0] }
                let names = ["--only", "Speed", "--only", "Level", "--timeout", Patience.seconds, "--count", "4"]
                try await withCommand(arguments + names + ["--json"]) { watch in
                    let absent = try await watch.nextEvent("warning") { ($0["message"] ?? "").hasPrefix(nobody) }
                    #expect(absent["reason"] == "connectionFailed")
                    try await watch.nextEvent("value") { $0["element"] == "Speed" }
                    try await watch.nextEvent("value") { $0["element"] == "Level" }
                    try robot.writeLine("Speed=1")
                    try await watch.nextEvent("value") { $0["instance"] == first && $0.number("value") == 1 }
                    try lamp.writeLine("Level=0.75")
                    // The silent one is given up when all values have come; the absent one is a failure.
                    try await watch.expectExit(1)
                    let values = watch.events("value")
                    #expect(values.count == 4 && values.allSatisfy { $0["service"] as String? == nil })
                    #expect(Set(values.compactMap { $0["instance"] as String? }) == [first, second])
                    let lacking = watch.events("warning").filter { $0["reason"] == "unknownElement" }
                    #expect(Set(lacking.compactMap { $0["instance"] as String? }) == [first, second])
                    let end = try #require(watch.events("error").last)
                    #expect(end["message"] == "'\(nobody)' could not be watched to the end")
                }
            }
        }
    }

    @Test("each line of text begins with its service")
    func text() async throws {
        try await Robot.with(["1:Speed:float=0.5"]) { _, first in
            try await Robot.with(["1:Level:float=0.25"]) { _, second in
                let result = try await ElementalProcess.run("watch", first, "--also", second, "-n", "2")
                #expect(result.status == .exited(0), "\(result)")
                #expect(Set(result.output) == ["\(first): Speed=0.5", "\(second): Level=0.25"], "\(result)")
                #expect(result.errors.allSatisfy { $0.hasPrefix("\(first): ") || $0.hasPrefix("\(second): ") })
            }
        }
    }

    @Test("behind one TARGET are names, also with --only, and a mistake says how a second service is watched")
    func names() async throws {
        try await Robot.with(["1:Speed:float=0.5", "2:Light:bool=on", "3:Go:bool=off"]) { _, target in
            let result = try await ElementalProcess.run("watch", target, "Speed", "--only", "Light", "-n", "2")
            #expect(result.output == ["Speed=0.5", "Light=true"], "\(result)")
            let failure = try await expectFailure(ElementalProcess.run("watch", target, "lamp"), status: 3)
            #expect(failure.errors.last?.contains("type --also lamp") == true, "\(failure)")
            // Not where it cannot be meant.
            let other = try await expectFailure(ElementalProcess.run("watch", target, "--only", "lamp"), status: 3)
            #expect(other.errors.last?.contains("no element 'lamp'") == true, "\(other)")
            #expect(!other.errors.joined().contains("--also"), "\(other)")
        }
    }

    @Test(arguments: [
        ["--also", "a:b"], ["--also", "lamp", "--element", "1:A:bool"],
        (0..<16).flatMap { ["--also", "lamp\($0)"] },
    ])
    func mistakes(_ options: [String]) throws { try Mistake.expect(in: ["watch", "robot"] + options) }
}
