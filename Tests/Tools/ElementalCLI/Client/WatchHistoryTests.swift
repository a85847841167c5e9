import Foundation
import TestSupport
import Testing

/// `watch --since`: values of the past, and then each new one.
struct WatchHistoryTests {
    private static let elements = [
        "1:Temperature:float:ro:timed:history 24h", "2:Short:uint32:ro:history 10", "3:Plain:float",
    ]

    private func send(_ numbers: ClosedRange<Int>, to service: ChildProcess, _ name: String = "Temperature")
        async throws
    {
        for number in numbers { try service.writeLine("\(name)=\(number)") }
        // Lines are taken in order: the last one shows that all were.
        try service.writeLine("Plain=\(numbers.upperBound)")
    }

    private func wait(for number: Int, _ target: String) async throws {
        try await eventually("all values are set") {
            try await ElementalProcess.run("get", target, "Plain").output.contains("Plain=\(Double(number))")
        }
    }

    @Test(.backstop)
    func pastAndPresent() async throws {
        try await Robot.with(Self.elements, ["--history", "memory"]) { service, target in
            try await send(1...50, to: service)
            try await wait(for: 50, target)
            let watch = ["watch", target, "Temperature", "--since", "1h", "--json", "--count", "80"]
            try await ChildProcess.with(try ElementalProcess.path, watch) { watch in
                var positions: [String] = []
                for number in 1...80 {
                    if number == 51 { try await send(51...80, to: service) }
                    let value = try await watch.nextEvent("value")
                    #expect(value.number("value") == Double(number))
                    #expect(try #require(value.number("timeError")) > 0)
                    positions.append(try #require(value["position"]))
                }
                #expect(Set(positions).count == 80)
                #expect(try await watch.waitForExit() == .exited(0))
            }
        }
    }

    @Test("what was dropped is told, and what is not kept is refused", .backstop)
    func gaps() async throws {
        try await Robot.with(Self.elements, ["--history", "memory"]) { service, target in
            try await send(1...25, to: service, "Short")
            try await wait(for: 25, target)
            let watch = try await ElementalProcess.run(
                "watch", target, "Short", "--since", "1h", "--count", "10", "--json")
            let events = watch.output.compactMap { JSONLine($0) }
            let gap = try #require(events.first { $0.event == "gap" })
            #expect(gap.number("gap") == nil && gap.number("atMost") == 15)
            let values = events.filter { $0.event == "value" }.compactMap { $0.number("value") }
            #expect(values == (16...25).map(Double.init))
            let plain = try await expectFailure("watch", target, "Plain", "--since", "1h", status: 2)
            #expect(plain.errors.joined().contains("history"))
        }
    }
}
