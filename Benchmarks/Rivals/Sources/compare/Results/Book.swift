/// All that was measured.
struct Book {
    /// The figures in the order in which they first came.
    private(set) var figures: [Figure] = []
    /// What could not be measured, and why.
    private(set) var failures: [String] = []
    private var values: [Figure: [Int: Double]] = [:]

    mutating func add(_ value: Double, _ figure: Figure, round: Int) {
        if values[figure] == nil { figures.append(figure) }
        values[figure, default: [:]][round] = value
    }

    /// Notes a failure; the same one in another round is noted once.
    mutating func add(failure: String) {
        if !failures.contains(failure) { failures.append(failure) }
    }

    func rounds(_ figure: Figure) -> [Double] {
        (values[figure] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    func summary(_ figure: Figure) -> Summary? { Summary(rounds(figure)) }

    func median(_ figure: Figure) -> Double? { summary(figure)?.median }

    /// The median of the ratios within each round: what changes between rounds changes for both.
    func ratio(_ figure: Figure, over other: Figure) -> Double? {
        let divisors = values[other] ?? [:]
        let ratios = (values[figure] ?? [:]).compactMap { round, value in
            divisors[round].flatMap { $0 > 0 ? value / $0 : nil }
        }
        return Summary(ratios)?.median
    }
}
