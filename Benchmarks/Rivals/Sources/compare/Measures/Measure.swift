/// What --only chooses from.
enum Group: String, CaseIterable {
    case roundtrip, throughput, fanout, load, scale, start
}

/// One run of one contender.
struct Job {
    /// What it is, for the progress line and for failures.
    var name: String
    /// About how long it takes.
    var seconds: Double
    /// Measures, and enters what it found as of this round.
    var run: (_ book: inout Book, _ round: Int) throws -> Void
}

/// Jobs that take turns: in each round each of them runs once.
struct Stage {
    var rounds: Int
    var jobs: [Job]
}

/// A part of the comparison.
protocol Measure {
    var group: Group { get }
    func stages(rounds: Int) -> [Stage]
    func tables(_ book: Book) -> [Table]
    func panels(_ book: Book) -> [Panel]
}

extension Measure {
    func panels(_ book: Book) -> [Panel] { [] }
}
