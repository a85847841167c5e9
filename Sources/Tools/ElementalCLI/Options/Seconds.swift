import ArgumentParser

/// A duration from the command line: a number of seconds above 0.
struct Seconds: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        guard let seconds = Double(argument), seconds > 0, seconds < 1e9 else { return nil }
        duration = .seconds(seconds)
    }
}
