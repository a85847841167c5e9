import Foundation
public import Testing

/// How long tests wait for what has to happen.
///
/// No wait of a test is a check of speed: each is as long as the slowest machine may need, and ends as soon as what it waits
/// for has happened. `ELEMENTAL_TEST_PATIENCE` scales all of them, in Swift, Python and shell alike.
public enum Patience {
    /// The environment variable with the factor, a number of at least 1.
    public static let variable = "ELEMENTAL_TEST_PATIENCE"

    /// The factor of every wait: that of the environment, times 5 with a sanitizer, which is about what the thread sanitizer
    /// costs when many threads share two processors.
    public static let factor: Double = {
        let wanted = ProcessInfo.processInfo.environment[variable].flatMap(Double.init) ?? 1
        return max(1, wanted) * (Sanitizer.current == nil ? 1 : 5)
    }()

    public static let wait: Duration = .seconds(60) * factor

    /// ``wait`` in whole seconds, for the options `--timeout` and `--for` of a command that must not end before.
    public static let seconds = "\(Int(wait.seconds.rounded(.up)))"
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. It is longer than any wait within a test, so that a wait that fails says what is missing.
    public static var backstop: Self { .timeLimit(.minutes(Int((10 * Patience.factor).rounded(.up)))) }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
