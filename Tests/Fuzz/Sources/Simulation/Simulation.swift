import Foundation

/// `Simulation SEED COUNT` or `Simulation SEED SECONDSs`: runs worlds, one after the other, starting from a seed.
@main
struct Simulation {
    /// The seed of the current world.
    nonisolated(unsafe) static var seed: UInt64 = 0

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 2, let first = UInt64(arguments[0]), let extent = Extent(arguments[1]) else {
            fatalError("usage: Simulation SEED COUNT, or Simulation SEED SECONDSs")
        }
        let start = ContinuousClock.now
        var (runs, sent, received) = (0, 0, 0)
        seed = first
        while !extent.isReached(runs, ContinuousClock.now - start) {
            let world = try World(seed: seed)
            world.run()
            runs += 1
            sent += world.ledger.sentCount
            received += world.ledger.receivedCount
            seed += 1
        }
        print("\(runs) networks simulated, seeds \(first) to \(seed - 1): \(sent) values sent, \(received) received")
    }

    /// How many worlds to run, or for how long.
    enum Extent {
        case count(Int)
        case time(Duration)

        init?(_ text: String) {
            if text.hasSuffix("s"), let seconds = Int(text.dropLast()) {
                self = .time(.seconds(seconds))
            } else if let count = Int(text) {
                self = .count(count)
            } else {
                return nil
            }
        }

        func isReached(_ runs: Int, _ elapsed: Duration) -> Bool {
            switch self {
            case .count(let count): runs >= count
            case .time(let time): elapsed >= time
            }
        }
    }
}

/// Checks an invariant of every world. If it does not hold, the process exits and prints the seed that reproduces it.
func check(_ condition: Bool, _ what: @autoclosure () -> String) {
    guard !condition else { return }
    print("broken with the seed \(Simulation.seed): \(what())")
    exit(1)
}

/// Prints what happens, if `TRACE` is set in the environment.
func trace(_ what: @autoclosure () -> String) {
    if isTracing { print(what()) }
}

private let isTracing = ProcessInfo.processInfo.environment["TRACE"] != nil
