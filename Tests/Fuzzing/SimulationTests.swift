import Foundation
import TestSupport
import Testing

/// A service and its clients on simulated networks of fixed seeds: at the end every value is accounted for. `Tests/simulate`
/// runs other seeds and more of them.
struct SimulationTests {
    private static let extents =
        OwnProcess.work.map { [$0] } ?? stride(from: 1, to: 61, by: 15).map { "\($0) 15" }

    @Test(.backstop, arguments: extents)
    func everyValueIsAccountedFor(seedAndCount: String) async throws {
        if OwnProcess.work == nil {
            return try await OwnProcess.run(seedAndCount, of: "FuzzingTests.SimulationTests")
        }
        try Simulation.run(#require(Simulation.Extent(seedAndCount)))
    }
}
