import Foundation
import TestSupport
import Testing

/// Hours of histories in files, with outages, kills of either end, power failures, full disks and clocks that jump: every value
/// comes once, with its time, or in a gap that was told. `Tests/simulate --histories` runs other seeds and whole days.
struct HistorySimulationTests {
    private static let variable = "ELEMENTAL_HISTORY_DAYS"
    /// `SEED COUNT HOURS`: seeds that count up, and how long each is simulated.
    private static let wanted = ProcessInfo.processInfo.environment[variable]
    private static let works = OwnProcess.work.map { [$0] } ?? wanted.map { [$0] } ?? ["1 1 0.5", "2 1 0.5"]

    // A day takes some minutes.
    @Test(
        .timeLimit(.minutes(wanted == nil && OwnProcess.work == nil ? 10 : 600)), arguments: works)
    func everyValueIsAccountedFor(work: String) async throws {
        if OwnProcess.work == nil {
            return try await withFolder { folder in
                let machine = "\(folder)/simulated-machine.so"
                _ = try await ChildProcess.run(
                    "clang",
                    [
                        "-shared", "-fPIC", "-O2", "-o", machine,
                        Repository.path("Tests/TestSupport/simulated-machine.c"),
                    ])
                try await OwnProcess.run(
                    work, of: "FuzzingTests.HistorySimulationTests", preload: machine,
                    within: Self.wanted == nil ? Patience.wait * 5 : .seconds(24 * 3600), isShown: Self.wanted != nil)
            }
        }
        let words = work.split(separator: " ")
        let (first, count, hours) = try #require(
            words.count == 3
                ? UInt64(words[0]).flatMap { first in
                    UInt64(words[1]).flatMap { count in Double(words[2]).map { (first, count, $0) } }
                } : nil)
        for seed in first..<first + count {
            try await withFolder { folder in
                // A thread of its own: its loops, and the machines' clocks and disk, belong to it.
                await withCheckedContinuation { continuation in
                    let thread = Thread {
                        print("seed \(seed)")
                        let began = ContinuousClock.now
                        guard let day = try? HistoryDay(folder, seed: seed, hours: hours) else { fatalError("no day") }
                        let figures = day.run()
                        SimulatedMachine.set(time: 0)
                        print("seed \(seed), \(hours) h in \(ContinuousClock.now - began): \(figures)")
                        continuation.resume()
                    }
                    thread.stackSize = 8 << 20
                    thread.start()
                }
            }
        }
    }
}
