import ArgumentParser
import Synchronization

/// The limits of a command that could print without end.
struct AmountOptions: ParsableArguments {
    @Option(name: [.customShort("n"), .long], help: ArgumentHelp("End after printing that many.", valueName: "n"))
    var count: Int?

    @Option(name: .customLong("for"), help: ArgumentHelp("End after that time.", valueName: "seconds"))
    var time: Seconds?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count takes a number above 0, not \(count)") }
    }

    /// The command ends by itself only with `--count`.
    var work: Interruption.Work { count == nil ? .endless : .counted }

    var counter: Countdown { Countdown(count ?? .max) }

    /// Throws if fewer than `--count` have been printed, unless the task was cancelled.
    func expectAll(_ remaining: Countdown, of items: String, code: String = "timedOut") throws {
        guard let count, remaining.value > 0 else { return }
        try Task.checkCancellation()
        throw CommandFailure(code, "only \(count - remaining.value) of \(count) \(items) arrived")
    }
}

/// The number of values that are still expected. Any thread may count it down.
final class Countdown: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }

    var value: Int { count.load(ordering: .relaxed) }

    /// Counts one, and returns the rest, which is below 0 once more than expected have arrived.
    func decrement() -> Int { count.subtract(1, ordering: .relaxed).newValue }
}

/// A duration from the command line: a number of seconds above 0.
struct Seconds: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        guard let seconds = Double(argument), seconds > 0, seconds < 1e9 else { return nil }
        duration = .seconds(seconds)
    }
}

/// A duration from the command line with a unit: `90s`, `10m`, `2h`, `1d`.
struct TimeSpan: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        guard let unit = ["s": 1.0, "m": 60, "h": 3600, "d": 86_400][argument.suffix(1)],
            let number = Double(argument.dropLast()), number > 0, number * unit < 1e9
        else { return nil }
        duration = .seconds(number * unit)
    }
}
