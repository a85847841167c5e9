import Foundation
import Support
import TestSupport
import Testing

/// A service on a machine whose clock is an hour ahead: a time namespace.
@Suite(.enabled(if: TestBed.isAvailable, "network namespaces cannot be made here"))
struct OtherClockTests {
    @Test(.backstop)
    func aValueHasTheTimeOfItsMeasurement() async throws {
        let publish = [
            "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--security", "open", "--json", "--element",
            "1:Pose:float:timed",
        ]
        let command = ["--time", "--boottime", "3600", try ElementalProcess.path] + publish
        try await ChildProcess.with("unshare", command) { service in
            let port = try await service.listeningPort()
            let watch = ["watch", "127.0.0.1:\(port)", "--json", "--timeout", Patience.seconds]
            try await ChildProcess.with(try ElementalProcess.path, watch) { watch in
                try await watch.nextEvent("connected")
                // The first ones may come before the clocks were compared.
                for number in 1...1000 {
                    let before = WallClock.seconds
                    try service.writeLine("Pose=\(number)")
                    let value = try await watch.nextEvent("value") { $0.number("value") == Double(number) }
                    guard let error = value.number("timeError") else { continue }
                    let time = try #require(value.number("time"))
                    #expect((before - error...WallClock.seconds + error).contains(time), "\(value)")
                    return
                }
                Issue.record("no value has its time:\n\(watch.transcript)")
            }
        }
    }
}
