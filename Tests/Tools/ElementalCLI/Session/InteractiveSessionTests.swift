import Foundation
import TestSupport
import Testing

/// `elemental connect`.
struct InteractiveSessionTests {
    @Test
    func aSessionListsGetsSetsWatchesAndEnds() async throws {
        try await Robot.with { service, target in
            try await withCommand(["connect", target]) { session in
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
                try await session.expectExit()
            }
        }
    }

    /// The current values arrive after the catalogue, so a session that began with the catalogue could be too early.
    @Test
    func theFirstCommandFindsWhatTheServiceHasSet() async throws {
        try await Robot.with { _, target in
            for _ in 0..<20 {
                try await withCommand(["connect", target]) { session in
                    try session.writeLine("get Speed\nquit")
                    try await session.expectExit()
                    #expect(session.lines(of: .output) == ["Speed=0.5"], "\(session.transcript)")
                }
            }
        }
    }
}
