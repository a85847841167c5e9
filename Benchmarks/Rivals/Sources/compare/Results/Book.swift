/// All results.
struct Book {
    /// The figures in the order of their first measurement.
    private(set) var figures: [Figure] = []
    /// What could not be measured, and why.
    private(set) var failures: [String] = []
    private var values: [Figure: [Int: Double]] = [:]

    mutating func add(_ value: Double, _ figure: Figure, round: Int) {
        if values[figure] == nil { figures.append(figure) }
        values[figure, default: [:]][round] = value
    }

    /// Records the percentiles of a run, each as the figure of its quantity, and the share that was lost.
    mutating func add(_ report: Report, of count: Int, round: Int, figure: (Quantity) -> Figure) throws {
        for quantity in Quantity.percentiles {
            add(try report.number(quantity.rawValue), figure(quantity), round: round)
        }
        add(try report.number("lost") / Double(count), figure(.lost), round: round)
    }

    /// Records a failure; the same failure in several rounds is recorded once.
    mutating func add(failure: String) {
        if !failures.contains(failure) { failures.append(failure) }
    }

    func rounds(_ figure: Figure) -> [Double] {
        (values[figure] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    func summary(_ figure: Figure) -> Summary? { Summary(rounds(figure)) }

    func median(_ figure: Figure) -> Double? { summary(figure)?.median }

    /// The median of the ratios within each round: what changes between rounds affects both.
    func ratio(_ figure: Figure, over other: Figure) -> Double? {
        let divisors = values[other] ?? [:]
        let ratios = (values[figure] ?? [:]).compactMap { round, value in
            divisors[round].flatMap { $0 > 0 ? value / $0 : nil }
        }
        return Summary(ratios)?.median
    }
}
