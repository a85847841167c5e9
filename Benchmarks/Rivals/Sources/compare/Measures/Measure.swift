/// The choices of --only.
enum Group: String, CaseIterable {
    case roundtrip, paced, throughput, fanout, load, handshakes, scale, start
}

/// One run of one contender.
struct Job {
    /// Its name, for the progress line and for failures.
    var name: String
    /// The approximate duration.
    var seconds: Double
    /// Measures, and records the results for this round.
    var run: (_ book: inout Book, _ round: Int) throws -> Void
}

/// Jobs that alternate: each runs once per round, in every second round in reverse order, so that none is always the one
/// that follows what slows a machine.
struct Stage {
    /// The number of the first round.
    var first = 1
    var rounds: Int
    var jobs: [Job]

    /// Further rounds, of these jobs by themselves.
    func more(_ rounds: Int, of jobs: [Job]) -> Stage { Stage(first: first + self.rounds, rounds: rounds, jobs: jobs) }
}

/// A part of the comparison.
protocol Measure {
    var group: Group { get }
    func stages(rounds: Int) -> [Stage]
    func tables(_ book: Book) -> [Table]
    func panels(_ book: Book) -> [Panel]
}

extension Measure {
    /// How many rounds more than the rest a measure has whose p99 counts: that is what the machine does besides, and varies
    /// much.
    static var moreRoundsOfTails: Int { 6 }

    func panels(_ book: Book) -> [Panel] { [] }
}
