import Foundation

enum Simulation {
    /// Which worlds to run: seeds that count up from the first.
    struct Extent: CustomStringConvertible, Sendable {
        enum End {
            case count(Int)
            case time(Duration)
        }

        let first: UInt64
        let end: End

        /// Parses `SEED COUNT` or `SEED SECONDSs`.
        init?(_ text: String) {
            let words = text.split(separator: " ")
            guard words.count == 2, let first = UInt64(words[0]) else { return nil }
            self.first = first
            if words[1].hasSuffix("s"), let seconds = Int(words[1].dropLast()) {
                end = .time(.seconds(seconds))
            } else if let count = Int(words[1]) {
                end = .count(count)
            } else {
                return nil
            }
        }

        var description: String {
            switch end {
            case .count(let count): "\(first) \(count)"
            case .time(let time): "\(first) \(time.components.seconds)s"
            }
        }

        func isReached(_ runs: Int, _ elapsed: Duration) -> Bool {
            switch end {
            case .count(let count): runs >= count
            case .time(let time): elapsed >= time
            }
        }
    }

    /// Prints each world's seed before it runs.
    static func run(_ extent: Extent) throws {
        let start = ContinuousClock.now
        var runs = 0
        while !extent.isReached(runs, ContinuousClock.now - start) {
            let seed = extent.first + UInt64(runs)
            print("seed \(seed)")
            fflush(nil)
            let world = try World(seed: seed)
            world.run()
            runs += 1
            print("\(world.ledger.sentCount) values sent, \(world.ledger.receivedCount) received")
        }
    }
}

/// Prints what happens, if `TRACE` is set in the environment.
func trace(_ what: @autoclosure () -> String) {
    if isTracing { print(what()) }
}

private let isTracing = ProcessInfo.processInfo.environment["TRACE"] != nil
