import Foundation
import TestSupport
import Testing

/// `elemental connect`.
struct InteractiveSessionTests {
    @Test
    func aSessionListsGetsSetsWatchesAndEnds() async throws {
        let service = [
            "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--json", "--element", "1:Speed:float=0.5",
        ]
        try await ChildProcess.with(ElementalProcess.path, service) { service in
            let target = "127.0.0.1:\(try await service.listeningPort())"
            try await ChildProcess.with(ElementalProcess.path, ["connect", target]) { session in
                try session.writeLine("list")
                try await session.nextLine { $0.contains("Speed") && $0.contains("float") }
                try session.writeLine("get Speed")
                try await session.nextLine { $0 == "Speed=0.5" }
                try session.writeLine("set Speed=0.75")
                try await service.nextEvent("value") { $0.number("value") == 0.75 }
                try session.writeLine("set Sped=1")
                try await session.nextLine(of: .error) { $0.contains("Speed") }
                try session.writeLine("watch Speed")
                try await session.nextLine { $0 == "Speed=0.75" }
                try service.writeLine("Speed=0.25")
                try await session.nextLine { $0 == "Speed=0.25" }
                try session.writeLine("stats")
                try await session.nextLine { $0.lowercased().contains("sent") }
                try session.writeLine("quit")
                let status = try await session.waitForExit()
                #expect(status == .exited(0), "\(session.transcript)")
            }
        }
    }

    /// The current values arrive after the catalogue, so a session that began with the catalogue could be too early.
    @Test
    func theFirstCommandFindsWhatTheServiceHasSet() async throws {
        let service = [
            "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--json", "--element", "1:Speed:float=0.5",
        ]
        try await ChildProcess.with(ElementalProcess.path, service) { service in
            let target = "127.0.0.1:\(try await service.listeningPort())"
            for _ in 0..<30 {
                try await ChildProcess.with(ElementalProcess.path, ["connect", target]) { session in
                    try session.writeLine("get Speed\nquit")
                    let status = try await session.waitForExit()
                    #expect(status == .exited(0), "\(session.transcript)")
                    #expect(session.lines(of: .output) == ["Speed=0.5"], "\(session.transcript)")
                }
            }
        }
    }
}
