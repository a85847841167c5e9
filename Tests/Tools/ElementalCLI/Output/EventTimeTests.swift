import Foundation
import TestSupport
import Testing

struct EventTimeTests {
    @Test
    func aValueHasTheTimeOfItsArrival() async throws {
        try await Robot.with { service, target in
            let watch = try await ElementalProcess.run("watch", target, "Speed", "--json", "--count", "1")
            let watched = try #require(watch.output.compactMap { JSONLine($0) }.first { $0.event == "value" })
            let get = try await ElementalProcess.run("get", target, "Speed", "--json")
            let got = try #require(get.output.compactMap { JSONLine($0) }.first { $0.event == "value" })
            try await expectSuccess("set", target, "Speed=0.75", "--json")
            let received = try await service.nextEvent("value")

            let times = try [watched, got, received].map { try #require($0.number("time")) }
            // Seconds since 1970. The clock may be set meanwhile.
            let now = Date().timeIntervalSince1970
            let day = now - 86_400...now + 86_400
            #expect(times.allSatisfy { day.contains($0) }, "\(times)")
            // Not whole seconds: the chance that all three arrive exactly at one is 1 in 10^18.
            #expect(times.contains { $0 != $0.rounded() }, "\(times)")
        }
    }

    @Test
    func aValueThatIsPrintedLaterKeepsItsTime() async throws {
        try await Robot.with { service, target in
            try await withCommand(["connect", target, "--json"]) { session in
                try session.writeLine("watch Speed")
                let first = try await session.nextEvent("value") { $0.number("value") == 0.5 }
                try service.writeLine("Speed=0.25")
                let changed = try await session.nextEvent("value") { $0.number("value") == 0.25 }
                try session.writeLine("get Speed")
                let printed = try await session.nextEvent("value") { $0.number("value") == 0.25 }
                let times = try [first, changed, printed].map { try #require($0.number("time")) }
                #expect(times[0] != times[1])
                #expect(times[1] == times[2])
            }
        }
    }
}
