import Foundation
public import Testing

/// How much of the tests runs: the gate, or everything.
public enum Depth {
    /// Whether this run is `Tests/run --all`, which sets `ELEMENTAL_TEST_DEPTH`.
    public static let isAll = ProcessInfo.processInfo.environment["ELEMENTAL_TEST_DEPTH"] == "all"
}

extension Trait where Self == ConditionTrait {
    /// For a test that takes long or much memory and that the gate leaves to `Tests/run --all`.
    public static var long: Self { .enabled(if: Depth.isAll, "long: runs with Tests/run --all") }
}
