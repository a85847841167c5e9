import Foundation

/// Prints the current job and the approximate remaining time on standard error.
struct Progress {
    private let jobCount: Int
    private var remaining: Double
    private var done = 0
    private var expected = 0.0
    private let start = ContinuousClock.now

    init(_ stages: [Stage]) {
        jobCount = stages.reduce(0) { $0 + $1.rounds * $1.jobs.count }
        remaining = stages.reduce(0) { $0 + Double($1.rounds) * $1.jobs.reduce(0) { $0 + $1.seconds } }
    }

    mutating func begin(_ job: Job, round: Int, of rounds: Int) {
        done += 1
        // The machine may be slower than the estimated durations.
        let pace = expected > 10 ? (ContinuousClock.now - start).seconds / expected : 1
        let left = Int(remaining * pace)
        let time = left >= 90 ? "\((left + 30) / 60) min" : "\(left) s"
        let turn = rounds > 1 ? ", round \(round) of \(rounds)" : ""
        Self.write("[\(done)/\(jobCount), about \(time) left] \(job.name)\(turn)")
        remaining -= job.seconds
        expected += job.seconds
    }

    static func write(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
